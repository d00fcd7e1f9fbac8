#!/usr/bin/env bash
# Builds the binary and serves the example tools on the embedded database.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

step "building"
cargo build --release --locked --package remit
remit="$CARGO_TARGET_DIR/release/remit"

data="${REMIT_DATA:-.remit}"
listen="${REMIT_LISTEN:-127.0.0.1:7300}"
mkdir -p -m 700 "$data"
cat <<TEXT

Remit serves the tools of examples/counting and the built-in ones. In another terminal:

  token=\$(cat $data/admin.token)
  curl -s -H "Authorization: Bearer \$token" http://$listen/tools
  curl -s -H "Authorization: Bearer \$token" -H 'Content-Type: application/json' http://$listen/calls \\
    -d '{"capability": "count_words.count", "input": {"text": "to be or not to be"}, "wait": false}'
  curl -s -H "Authorization: Bearer \$token" http://$listen/approvals     # it waits for your yes
  curl -s -H "Authorization: Bearer \$token" -H 'Content-Type: application/json' \\
    http://$listen/approvals/ID -d '{"decision": "approve"}'

docs/server.md says more; the whole API is at http://$listen/openapi.json. Ctrl-C stops it.

TEXT
exec "$remit" serve --listen "$listen" --data "$data" --tools examples/counting
