#!/usr/bin/env bash
# Everything that judges the source without running it.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

need python3
need_component rustfmt
need_component clippy

step "formatting"
cargo fmt --all --check || give_up "run 'cargo fmt --all'"
# Benchmarks and fuzz targets are workspaces of their own, which cargo fmt does not see.
find bench fuzz -name '*.rs' -print0 | xargs -0 rustfmt --check --edition 2024 ||
  give_up "run 'rustfmt --edition 2024' on the files above"

step "house rules"
python3 scripts/house.py --self-test
python3 scripts/house.py

step "clippy"
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
echo "no warnings"

step "benchmarks and fuzz targets still compile"
cargo check --locked --quiet --manifest-path bench/rust/Cargo.toml
cargo check --locked --quiet --manifest-path fuzz/Cargo.toml --no-default-features --lib
echo "they do"
