#!/usr/bin/env bash
# Installs real MCP servers for the tests of the client, once, under $REMIT_CACHE, and prints where they
# are: `NODE=…`, `NPM=…` and `PYTHON=…`, one a line. Where they cannot be installed nothing is printed, and
# the tests that want them say that they were skipped.
#
# The tests look for $REMIT_MCP_SERVERS first, then for the place this script uses.

. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# What they list and answer is part of what is tested, so their versions are fixed here.
EVERYTHING=2026.8.31
FILESYSTEM=2026.8.31
MEMORY=2026.8.31
TIME=2026.10.19
GIT=2026.10.19
FETCH=2026.10.24

servers="$REMIT_CACHE/mcp-servers-$EVERYTHING-$FILESYSTEM-$MEMORY-$TIME-$GIT-$FETCH"

install_servers() {
  step "installing MCP servers" >&2
  rm -rf "$servers.new"
  mkdir -p "$servers.new"
  (cd "$servers.new" && npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix . \
    "@modelcontextprotocol/server-everything@$EVERYTHING" \
    "@modelcontextprotocol/server-filesystem@$FILESYSTEM" \
    "@modelcontextprotocol/server-memory@$MEMORY") >&2 || return 1
  python3 -m venv "$servers.new/python" >&2 || return 1
  # By module: a virtual environment's own programs know its place by name, and it is moved.
  "$servers.new/python/bin/python" -m pip install --quiet --disable-pip-version-check \
    "mcp-server-time==$TIME" "mcp-server-git==$GIT" "mcp-server-fetch==$FETCH" >&2 || return 1
  rm -rf "$servers"
  mv "$servers.new" "$servers"
}

skip() {
  printf '\nskipped: the real MCP servers are not there: %s\n' "$*" >&2
  exit 0
}
for program in npm node python3; do
  command -v "$program" >/dev/null || skip "there is no $program"
done
[ -d "$servers" ] || install_servers || skip "they could not be installed; is there a network?"
# So that tests need not know the versions.
ln -sfn "$servers" "$REMIT_CACHE/mcp-servers"
printf 'NODE=%s\nNPM=%s\nPYTHON=%s\n' "$(command -v node)" "$servers/node_modules" "$servers/python/bin/python"
