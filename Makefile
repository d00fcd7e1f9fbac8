# Thin on purpose: a target is a name for a script, and `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help serve test check judges bench fuzz soak

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' Makefile

serve: ## build the binary and serve the example tools (REMIT_LISTEN, REMIT_DATA to change where)
	@scripts/serve.sh

test: ## everything a change must pass: formatting, clippy, house rules, tests
	@scripts/test.sh

check: ## formatting, clippy and house rules, without the tests
	@scripts/check.sh

judges: ## have the public judges look at the server: MCP's, AG-UI's, schemathesis (JUDGES to name some)
	@scripts/judges.sh

bench: ## measure against peers; one table (BENCH_ARGS="--strict" to fail on a miss)
	@scripts/bench.sh $(BENCH_ARGS)

fuzz: ## run every fuzz target for a minute (FUZZ_SECONDS, FUZZ_TARGETS to change that)
	@scripts/fuzz.sh

soak: ## run property tests, kills and timeouts for long (SOAK_CASES, SOAK_KILLS, SOAK_TIMEOUTS, SOAK_PATCHES, SOAK_CANARIES)
	@scripts/soak.sh
