#!/usr/bin/env bash
# Has schemathesis make up requests from the server's own document, good ones and bad ones, and look at what
# comes back: schemathesis.sh PYTHON URL TOKEN EXAMPLES. What it must know besides is in schemathesis.toml.
set -euo pipefail

python="$1" url="$2" token="$3" examples="$4"
config="$(realpath "$(dirname "$0")")/schemathesis.toml"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# It leaves what it found in the folder it stands in.
cd "$work"
"$python" -m schemathesis.cli --config-file "$config" run "$url/openapi.json" \
  --header "Authorization: Bearer $token" --max-examples "$examples" --seed 1 --workers 1 \
  --request-timeout 20 --generation-deterministic --warnings off --no-color
