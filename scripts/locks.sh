#!/usr/bin/env bash
# Gives the benchmarks and the fuzz targets the versions of the product's lock file.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

for folder in bench/rust fuzz; do
  cp Cargo.lock "$folder/Cargo.lock"
  cargo metadata --format-version 1 --manifest-path "$folder/Cargo.toml" >/dev/null
  echo "$folder/Cargo.lock"
done
