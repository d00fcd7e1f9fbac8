#!/usr/bin/env bash
# Runs every fuzz target for a while, two at a time; fails if one finds something.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

seconds="${FUZZ_SECONDS:-60}"
read -ra targets <<<"${FUZZ_TARGETS:-read yaml capability tool skill agent mcp_tools canonical diff schema}"
at_once="${FUZZ_JOBS:-$(nproc)}"
place="$REMIT_CACHE/fuzz"

need python3
need cc gcc
need c++ g++

export PATH="$REMIT_CACHE/cargo/bin:$PATH"
if ! command -v cargo-fuzz >/dev/null; then
  step "installing cargo-fuzz"
  cargo install cargo-fuzz --locked --quiet --root "$REMIT_CACHE/cargo"
fi

# Coverage flags need a nightly compiler, or a stable one that is told to take them.
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
  export RUSTUP_TOOLCHAIN=nightly
else
  export RUSTC_BOOTSTRAP=1
fi

# No sanitizer: there is no unsafe code to watch, and without one the targets run twice as fast.
build=(--sanitizer none --target-dir "$CARGO_TARGET_DIR/fuzz")
step "building the fuzz targets with $(rustc --version)"
cargo fuzz build "${build[@]}"
python3 -B fuzz/seeds.py "$place/seeds"

host="$(rustc -vV | sed -n 's/^host: //p')"
run() {
  local target="$1"
  local log="$place/$target.log" corpus="$place/corpus/$target" artifacts="$place/artifacts/$target/"
  mkdir -p "$corpus" "$artifacts"
  if "$CARGO_TARGET_DIR/fuzz/$host/release/$target" "$corpus" "$place/seeds/$target" \
    -artifact_prefix="$artifacts" -dict="$place/seeds/words.dict" -max_total_time="$seconds" \
    -max_len=16384 -timeout=5 -rss_limit_mb=512 -print_final_stats=1 >"$log" 2>&1; then
    printf '%-12s nothing found in %s runs, %s\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -1)"
  else
    printf '%-12s FOUND SOMETHING\n' "$target"
    grep -aE 'panicked at|ERROR: libFuzzer|Test unit written' -A2 "$log" | head -12 | sed 's/^/    /'
    printf '    the whole story: %s\n' "$log"
    printf '    again: cargo fuzz run --sanitizer none %s FILE\n' "$target"
    return 1
  fi
}

step "fuzzing ${#targets[@]} targets, $seconds s each, $at_once at a time"
failed=0
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || failed=1; done
  run "$target" &
done
while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
exit "$failed"
