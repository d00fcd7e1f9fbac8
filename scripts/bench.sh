#!/usr/bin/env bash
# Builds what is measured, fetches the peers into the cache, and measures.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

need python3
need node nodejs
need npm

peers="$REMIT_CACHE/bench"
# The peers' versions are part of what is measured, so they are fixed here.
python_packages=(pydantic==2.14.3 PyYAML==6.0.3 rfc8785==0.1.4 mcp==2.3.0)
node_packages=(canonicalize@5.1.0 @modelcontextprotocol/sdk@1.32.2)

step "building"
cargo build --release --locked --package remit
cargo build --release --locked --manifest-path bench/rust/Cargo.toml --bins

step "fetching the peers: ${python_packages[*]} ${node_packages[*]}"
if [ ! -x "$peers/venv/bin/pip" ]; then
  python3 -m venv "$peers/venv" || { install_packages python3-venv; python3 -m venv "$peers/venv"; }
fi
"$peers/venv/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}"
mkdir -p "$peers/npm"
[ -d "$peers/npm/node_modules/canonicalize" ] && [ -d "$peers/npm/node_modules/@modelcontextprotocol/sdk" ] ||
  npm install --silent --no-audit --no-fund --prefix "$peers/npm" "${node_packages[@]}"

export BENCH_PYTHON="$peers/venv/bin/python"
export BENCH_PACKAGES="$peers/npm"
export BENCH_REMIT="$CARGO_TARGET_DIR/release/remit"
export BENCH_RUST="$CARGO_TARGET_DIR/release/remit-bench"
export BENCH_EMPTY="$CARGO_TARGET_DIR/release/empty"

step "measuring"
exec "$BENCH_PYTHON" -B bench/run.py "$@"
