#!/usr/bin/env bash
# Long runs of what `make test` does in short: property tests with many more cases, Remit killed in the
# middle of thousands of calls, thousands of calls that take too long, versions published by many at once,
# planted secrets.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

export PROPTEST_CASES="${SOAK_CASES:-20000}"
# A failure found here is rare: take the time to make it small.
export PROPTEST_MAX_SHRINK_TIME=60000

mapfile -t files < <(grep -rl --include='*.rs' 'proptest!' crates | sort)
[ "${#files[@]}" -gt 0 ] || give_up "there are no property tests"
step "property tests with $PROPTEST_CASES cases each ('make test' runs 256; SOAK_CASES changes it), in"
printf '  %s\n' "${files[@]}"

# All tests of the crates that have some: the others are done in a moment.
mapfile -t crates < <(printf '%s\n' "${files[@]}" | cut -d/ -f2 | sort -u)
packages=()
for crate in "${crates[@]}"; do
  packages+=(--package "$(sed -n 's/^name = "\(.*\)"/\1/p' "crates/$crate/Cargo.toml" | head -1)")
done
cargo test --locked --no-fail-fast "${packages[@]}"

export REMIT_SOAK_KILLS="${SOAK_KILLS:-10000}" REMIT_SOAK_TIMEOUTS="${SOAK_TIMEOUTS:-10000}"
step "the public judges, at length"
JUDGE_EXAMPLES="${SOAK_EXAMPLES:-500}" scripts/judges.sh
step "$REMIT_SOAK_KILLS kills in the middle of a call"
cargo test --locked --package remit --test it -- --nocapture crashes
step "$REMIT_SOAK_TIMEOUTS calls that take too long"
cargo test --locked --package remit-exec --test it -- --nocapture leaks

export REMIT_SOAK_PATCHES="${SOAK_PATCHES:-1000}" REMIT_SOAK_CANARIES="${SOAK_CANARIES:-100000}"
step "64 writers with $REMIT_SOAK_PATCHES versions each"
cargo test --locked --package remit-server --test it -- --nocapture versions_have_no_gap
step "$REMIT_SOAK_CANARIES planted secrets"
cargo test --locked --package remit --test it -- --nocapture planted_secrets
