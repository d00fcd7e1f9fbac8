#!/usr/bin/env bash
# What a change must pass. Prints the test runner's own summary last.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# Tools in the tests are written in these.
need python3
need node nodejs
# The store's tests cut the power by replaying what was really written.
need strace

scripts/check.sh
scripts/card-schema.sh
# Those that the tests of the MCP client talk to; without them those tests say that they were skipped.
scripts/mcp-servers.sh >/dev/null
# Before the tests, whose summary stands last; what the judges find does not keep the tests from running.
status=0
scripts/judges.sh || status=$?

if cargo nextest --version >/dev/null 2>&1; then
  step "documentation examples"
  cargo test --workspace --locked --doc --quiet
  step "tests"
  cargo nextest run --workspace --locked --no-fail-fast --status-level fail || status=$?
  exit "$status"
fi

# Without nextest, cargo's own runner does; it sums up each binary by itself, so the total is ours.
step "tests"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
cargo test --workspace --locked --no-fail-fast 2>&1 | tee "$log" || status=$?
awk '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
     END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
