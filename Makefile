# The jobs of the project. `make demo` and `make test` are all that a newcomer needs.
SHELL := /bin/bash
VPASS := target/release/vpass
DEMO  := --drive tiny --trace examples/traces/pgbench-ext4.csv.zst

.PHONY: demo test bench soak lint clean

# Compares reclaim policies on a real application's trace, on a fresh and on a worn drive.
demo: $(VPASS)
	@$(VPASS) demo

$(VPASS): FORCE
	@cargo build --release --bin vpass
FORCE:

test:
	cargo test --release --workspace
	cargo test --release -p vpass-oracle --features seeded-bugs --test seeded_bugs
	cargo test --release -p vpass-core --bench throughput -- --small
	$(MAKE) --no-print-directory check-minute

# A minute of random drives, new ones with every commit; a failure prints the command that replays it.
check-minute: $(VPASS)
	$(VPASS) check --seed $$((0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1))) --minutes 1

bench:
	cargo bench -p vpass-core --bench throughput
	cargo bench -p vpass-oracle
	cargo bench -p vpass-workload

# Long runs: 10,000 random drives and ten million mutated trace files per reader.
soak: $(VPASS)
	$(VPASS) check --seed 1 --count 10000
	VPASS_FUZZ_EXECS=10000000 cargo test --release -p vpass-workload --test fuzz -- --nocapture

lint:
	cargo fmt --check
	cargo clippy --release --workspace --all-targets
	@if command -v cargo-deny >/dev/null; then cargo deny check bans licenses sources; else echo "cargo-deny is not installed: skipped"; fi

clean:
	cargo clean
