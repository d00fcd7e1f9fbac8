#!/usr/bin/env bash
# Until there is a server: builds the binary and shows what it says about the examples, and a call.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

step "building"
cargo build --release --locked --package remit
remit="$CARGO_TARGET_DIR/release/remit"

# Shows a command the way a person would type it, then runs it. Findings (exit code 1) are part of
# the show; that the command could not be carried out is not.
show() {
  printf '\n$ remit %s\n' "$*"
  local status=0
  "$remit" "$@" || status=$?
  [ "$status" -le 1 ] || exit "$status"
}

if [ -d examples ]; then
  show check examples
  while IFS= read -r old; do
    new="${old%old*}new${old##*old}"
    [ ! -e "$new" ] || show diff "$old" "$new"
  done < <(find examples -type f -name '*old*' | sort)
fi

data="$(mktemp -d)"
trap 'rm -rf "$data"' EXIT
show call count_words.count '{"text": "to be or not to be"}' --tools examples/counting --approve --data "$data"
show log --data "$data"
show log verify --data "$data"

cat <<TEXT

The binary is $remit; 'cargo install --path crates/remit' puts it on your path. Try next:
  remit new tool my_tool                  writes my_tool.yaml, with comments that teach
  remit check my_tool.yaml                what is wrong with it, and where
  remit diff OLD NEW                      what changed, and whom it hurts
  remit schema tool > tool.schema.json    completion and checking in an editor
  remit tools; remit call NAME JSON       what can be called, and calling it
TEXT
