# The jobs of the project. `make demo` and `make test` are all that a newcomer needs.
SHELL := /bin/bash
VPASS := target/release/vpass
.PHONY: demo results map test check-minute bench bench-start bench-years life-rungs estimates long-models soak samples nightly recorded record record-cases record-frames
.PHONY: lint clean build instructions record-instructions names record-names stages unit faulty seeded-bugs evidence benches
.PHONY: man docs reference links schemas python-test python-lock
.PHONY: paper-straw paper-ipr paper-ida paper-rlr paper-rlr-live paper-da-raid5 real-drives
.PHONY: live build-live bench-live conform

# Compares techniques on a real database's trace and beside a file that everybody reads, on fresh and on worn drives; says what was found.
demo: build
	@python3 examples/demo.py

# Writes the demo's results into docs/start/ten-minutes.md, and one table of them into the README.
results: build
	python3 examples/demo.py --readme

# Serves a drive and runs SQLite on ext4 on it: a file that is read often becomes slow, stays fast, or is lost. Needs root.
live: build-live
	@python3 examples/live/demo.py

# Reads of a live drive, as ratios to nbdkit's memory plug-in in the same run.
bench-live: build-live
	@python3 examples/live/bench.py

build:
	@cargo build --release --bin vpass

# vpass with the plug-in for nbdkit.
build-live:
	@cargo build --release -p vpass-cli -p vpass-nbdkit

# Stages of `make test`, in order. All but the seeded bugs choose the whole workspace, so that Cargo unites the features
# of dependencies alike and builds no crate twice.
STAGES := unit python-test seeded-bugs benches instructions check-minute
test: build
	@set -e; for stage in $(STAGES); do $(MAKE) --no-print-directory $$stage; done

stages:
	@echo $(STAGES)

unit:
	cargo test --release --workspace

# The Python package, its types and its examples, in an environment below target/.
python-test:
	@python3 python/environment.py

# Takes the versions of the packages that are in the environment now.
python-lock:
	target/python/bin/python -m pip freeze --exclude-editable > python/requirements.lock

# The sources with all faults of crates/conform, one of which a test chooses at run time.
FAULTY := target/faults/src
faulty: conform
	@$(CONFORM) plant $(FAULTY)

# All crates are chosen, so that the tests use the same build of them.
CONFORM := target/release/vpass-conform
conform:
	@cargo build --quiet --release --workspace --bin vpass-conform

# The faulty sources are built in many units: that is quicker, and the cases are small.
MANY_UNITS := --config profile.release.package.vpass-drive.codegen-units=16 --config profile.release.package.vpass-oracle.codegen-units=16
# Cargo takes the crates of a copy for those of the original, so the copy has a target folder of its own.
IN_FAULTY := cd $(FAULTY) && CARGO_TARGET_DIR=$(CURDIR)/target/faults/target
seeded-bugs: faulty
	$(IN_FAULTY) cargo test --release $(MANY_UNITS) -p vpass-oracle --features seeded-bugs --test all -- bug bound
	$(IN_FAULTY) cargo test --release $(MANY_UNITS) -p vpass-model -p vpass-drive -p vpass-techniques \
		--features vpass-model/seeded-bugs,vpass-drive/seeded-bugs,vpass-techniques/seeded-bugs --lib --test all -- each_bug_is_seen

# What finds each fault: the oracle's sentences in random drives, the recorded runs in which mechanisms meet, and stored drives. Takes
# two hours of CPU time. A test with a file in target/faults/evidence is not made again.
evidence: faulty
	$(IN_FAULTY) cargo test --release $(MANY_UNITS) -p vpass-oracle -p vpass-cli -p vpass-conform \
		--features vpass-oracle/seeded-bugs --bin vpass-conform --test all --test recorded --no-run --message-format=json > ../programs.json
	$(CONFORM) evidence $(FAULTY)

benches:
	cargo test --release --workspace --bench throughput --bench techniques --bench retries --bench parity --bench watched --bench first_minutes -- --small

# A minute of random drives under the oracle, other ones for every commit; a failure prints the
# command that replays it. A quarter of the minute is for drives whose data is refreshed while flash
# fails.
SEED := $(shell printf '%d' 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1))
check-minute: build
	$(VPASS) check --seed $(SEED) --minutes 0.75
	set -e; for refresh in block ida; do \
		$(VPASS) check --seed $(SEED) --minutes 0.125 --fail --refresh $$refresh; \
	done

# Estimates of lives against simulated lives, case by case: the table of docs/estimate.md.
estimates:
	cargo test --release -p vpass-lab --test all estimate:: -- --ignored --nocapture

bench: build
	cargo bench -p vpass-drive --bench throughput --bench techniques --bench retries --bench parity
	cargo bench -p vpass-oracle
	cargo bench -p vpass-workload
	$(MAKE) --no-print-directory bench-start bench-years

# What a run costs beside its requests. The goals are in CPU seconds, user and system together, on a quiet machine; memory is that of the
# largest moment.
NINE_ROWS := none,block,page-type,read-leveling,redftl,hotld,ipr,straw-wl,straw-ss-sound
MEASURED := /usr/bin/time -f "%U s + %S s of CPU, %M KiB"
bench-start: build
	@echo "start and end check of the first example, oracle on (goal at most 2 CPU s and 2 GiB)"
	$(MEASURED) $(VPASS) run --drive modern-tlc --workload random-70-30 --set workload.requests=1 > /dev/null
	@echo "the same start with parity (goal at most twice the CPU time)"
	$(MEASURED) $(VPASS) run --drive modern-tlc --workload random-70-30 --set workload.requests=1 --parity raid5 > /dev/null
	@echo "the first example, 1 M requests"
	$(MEASURED) $(VPASS) run --drive modern-tlc --workload random-70-30 --set workload.requests=1M > /dev/null
	@echo "comparison of nine rows, 100,000 requests each (goal at most 10 CPU s and twice the memory of one row)"
	$(MEASURED) $(VPASS) compare --drive modern-tlc --workload random-70-30 --set workload.requests=100k --seeds 1 --reclaim $(NINE_ROWS) > /dev/null
	@echo "one row of it"
	$(MEASURED) $(VPASS) run --drive modern-tlc --workload random-70-30 --set workload.requests=100k --reclaim block > /dev/null

# Lives, from 0 to the rated P/E cycles: those of docs/guides/life.md, a database's trace, a gigabyte a second of reads on modern-qlc, and
# five years of 2 TiB, and 10^9 tokens of a model on 2 TB. A first simulated answer is to come within 60 s, one within 10 % in 180 s; the five
# years in 20 s, the tokens in 60 s.
bench-years: build
	@echo "three lives of docs/guides/life.md: 20,000 zipf reads a second on modern-tlc"
	time $(VPASS) life $(GUIDE_LIFE)
	time $(VPASS) life $(GUIDE_LIFE) --oracle off --reclaim block,straw-wl
	time $(VPASS) life $(GUIDE_LIFE) --hints examples/hints/all-idle.toml --set hints.typical_us=83 --set hints.idle_us=200
	@echo "a database trace of 264,884 requests on 2-TB modern-tlc: block, then straw-wl"
	set -e; for reclaim in block straw-wl; do time $(VPASS) life --drive modern-tlc --trace examples/traces/pgbench-ext4.csv.zst \
		--oracle off --reclaim $$reclaim; done
	@echo "1 GB/s of reads on modern-qlc: block, then straw-wl"
	set -e; for reclaim in block straw-wl; do time $(VPASS) life --drive modern-qlc --workload zipf-read --set workload.block_size=16KiB \
		--set workload.rate=61035 --oracle off --reclaim $$reclaim; done
	@echo "half a year of 1,000 random reads a second, 512 GiB, --sample 1/16"
	time $(VPASS) life $(YEARS) --exact --set drive.capacity=512GiB --set workload.rate=1000 --set workload.read_share=1 --years 0.5 --sample 1/16
	@echo "five years of 0.3 drive writes a day and 20,000 reads a second, 2 TiB: block, then straw-wl"
	set -e; for reclaim in block straw-wl; do time $(VPASS) life $(YEARS) --set drive.capacity=2TiB --set workload.rate=20466 \
		--set workload.read_share=0.97723 --years 5 --reclaim $$reclaim; done
	@echo "10^9 tokens of 370 GB of experts at one a second (31.71 years), 2 TB, a count of 3,276,800 reads"
	time $(VPASS) life --drive real-h --set drive.capacity=2TB --workload llm-moe-744b --set workload.model.tokens_per_second=1 \
		--reclaim count --years 31.71 --oracle off --rung 1 --sample 1/64

GUIDE_LIFE = --drive modern-tlc --workload zipf-read --set workload.rate=20k

# A drive of today under page-sized random requests.
YEARS = --drive modern-tlc --workload random-70-30 --set workload.block_size=16KiB --oracle off

# Lives on the ladder against exact lives, twelve cases; some minutes.
life-rungs:
	cargo test --release -p vpass-lab --test all life_rungs:: -- --include-ignored --nocapture

# Models on the drive: the fluid gear against requests, at thresholds of 100 to 1,000,000 reads over ten million tokens.
long-models:
	cargo test --release --package vpass-lab --test all -- --ignored --nocapture requests_at_all_thresholds

# Long runs: 80,000 random drives, some thousand million checked reads, with what each technique
# came to; 5,000 drives whose data is refreshed while flash fails, half of them with parity; every
# seeded bug looked for afresh;
# every policy that protects under every attack, and under a search of five minutes for a new one; 420 killed commands; ten million mutated trace files for each reader.
NAMES = python3 -c 'import json, sys; print(*(t["name"] for t in json.load(sys.stdin)["$(1)"] if $(2)))'
PROTECTING = $(shell $(VPASS) list reclaim --json | $(call NAMES,reclaim,not t["may_lose_data"] and not t["counterfactual"]))
soak: build conform
	$(VPASS) check --seed 1 --count 80000
	$(VPASS) check --seed 1 --count 10000 --parity raid5
	$(VPASS) check --seed 1 --count 10000 --parity ppc
	$(VPASS) check --seed 1 --count 10000 --parity hc
	$(VPASS) check --seed 1 --count 5000 --fail
	set -e; for parity in none raid5 ppc hc pe-aware da-raid5; do $(VPASS) check --seed 1 --count 2000 --fail --parity $$parity; done
	set -e; for refresh in block ida; do \
		$(VPASS) check --seed 1 --count 1250 --fail --refresh $$refresh; \
		for parity in raid5 ppc hc pe-aware da-raid5; do \
			$(VPASS) check --seed 1 --count 250 --fail --refresh $$refresh --parity $$parity; \
		done; \
	done
	$(MAKE) --no-print-directory faulty
	$(IN_FAULTY) cargo test --release -p vpass-oracle --features seeded-bugs --test all seeded_bugs:: -- --ignored --nocapture
	$(CONFORM) play
	VPASS_SEEDS=12 cargo test --release -p vpass-lab --test all agree
	cargo test --release -p vpass-lab --test all verdicts:: -- --ignored --nocapture
	VPASS_CASES=400 cargo test --release -p vpass-oracle --test all -- parity_is_what random_cases_are_clean
	cargo test --release -p vpass-cli --test attacks -- --ignored
	$(MAKE) --no-print-directory samples
	set -e; for policy in $(PROTECTING); do \
		$(CONFORM) search --drive tiny --set start.pec=2000 --reclaim $$policy --minutes 5 --write target/attack-$$policy.toml; \
	done
	cargo test --release -p vpass-cli --test cli killed:: -- --ignored
	VPASS_FUZZ_EXECS=10000000 cargo test --release -p vpass-workload --test fuzz -- --nocapture
	VPASS_FUZZ_EXECS=1000000 cargo test --release -p vpass-workload --test all fio_fuzz::
	VPASS_FUZZ_EXECS=10000000 cargo test --release -p vpass-drive --test all config::

# Samples against the whole drives that they are of: several geometries, spares, techniques and workloads, at three sizes of samples.
samples:
	cargo test --release -p vpass-lab --test all samples_of_whole:: -- --include-ignored

# A build that aborts where arithmetic overflows, under ten minutes of random drives and every attack. The seed is the day's.
CHECKED := target/checked/vpass
DAY := $(shell date -u +%Y%m%d)
nightly:
	cargo build --profile checked --workspace --bin vpass --bin vpass-conform
	$(CHECKED) check --seed $(DAY)000000 --minutes 10
	set -e; for reclaim in $$($(CHECKED) list reclaim --json | $(call NAMES,reclaim,True)); do \
		for attack in $$($(CHECKED) list attacks --json | $(call NAMES,attacks,True)); do for gear in timed untimed; do \
			echo "$$attack against $$reclaim, $$gear"; \
			$(CHECKED) attack $$attack --drive tiny --set start.pec=2000 --reclaim $$reclaim --gear $$gear --json >/dev/null || [ $$? = 3 ]; \
		done; done; \
		$(CHECKED)-conform search --drive tiny --set start.pec=2000 --reclaim $$reclaim --rounds 2 --write target/nightly-attack.toml || [ $$? = 3 ]; \
	done

# What some 490 runs write, against what is recorded by field. `make record` takes the record again and
# prints what moved, old -> new, for the message of the change that moved it.
recorded:
	cargo test --release --workspace --test recorded

record:
	cargo test --release --workspace --test recorded -- --ignored take_the_record

# Digests of 3,000 stored random drives (crates/conform/cases): takes them again. The drives stay as they are:
# `vpass-conform draw --out FILE` has drawn them.
record-cases: conform
	$(CONFORM) play --record

# Columns of the frames that Python gives: takes their digests again.
record-frames:
	python3 python/environment.py python python/tests/test_frames.py

# Names that other programs use, against those that are recorded; and new ones added. No target takes a name out.
names:
	cargo test --release -p vpass-cli --test names

record-names:
	cargo test --release -p vpass-cli --test names -- --ignored add_new_names

# Instructions of the paths that matter, counted by callgrind, against the stored counts, within 3 %. The counts belong to the
# release profile of Cargo.toml: the settings below undo what a machine's own Cargo configuration may change. A change that
# moves a count on purpose takes the counts again and says why.
OWN_PROFILE := --config profile.release.incremental=false --config profile.release.package.vpass-drive.codegen-units=1 \
	--config profile.release.package.vpass-oracle.codegen-units=16
instructions:
	cargo test --release $(OWN_PROFILE) --workspace --bench instructions

record-instructions:
	cargo test --release $(OWN_PROFILE) --workspace --bench instructions -- write

# The figures of a paper beside its numbers: 19 minutes of CPU time for straw-2024, 11 for ipr-2018, 7 for ida-coding-2018, 11 for
# read-latency-relaxation-2021, 4 for da-raid5-2013.
REPRODUCE = python3 python/environment.py python papers/$(1)/reproduce.py
paper-straw:
	$(call REPRODUCE,straw-2024)

paper-ipr:
	$(call REPRODUCE,ipr-2018)

paper-ida:
	$(call REPRODUCE,ida-coding-2018)

paper-da-raid5:
	$(call REPRODUCE,da-raid5-2013)
	$(call REPRODUCE,da-raid5-2013) life
	$(call REPRODUCE,da-raid5-2013) hc

paper-rlr:
	$(call REPRODUCE,read-latency-relaxation-2021)

# The file server of read-latency-relaxation-2021 on a live drive, by the rules of its recipe: 45 minutes on a machine that does nothing else. A run
# whose results are there is not repeated. Needs root.
paper-rlr-live: build-live
	python3 papers/read-latency-relaxation-2021/live/run.py

# Six real drives beside what they did: rewriting, 17 predictions. Results go into the paper's page by hand. The guide's
# picture is then drawn from that page.
real-drives: build
	python3 papers/read-latency-relaxation-2021/drives.py $(VPASS)
	python3 docs/real_drives.py

# Writes the tables of techniques in docs/techniques/README.md from their cards.
map:
	cargo test --release -p vpass-cli --test cli docs::write_the_tables -- --ignored

# Builds the site into target/docs, from a readable copy of all pages in target/pages. Warnings and
# dead links are errors. The tools are installed into target/docs-env, in the versions of
# docs/requirements.txt. The report pages of the gallery are made again when vpass or their commands
# change.
DOCS_PYTHON := target/docs-env/bin/python
docs: links $(DOCS_PYTHON)
	$(DOCS_PYTHON) -m sphinx -q -n -W --keep-going -c docs -d target/docs-cache target/pages target/docs
	python3 docs/gallery.py
	@echo "target/docs/index.html"

$(DOCS_PYTHON): docs/requirements.txt
	python3 -m venv --clear target/docs-env
	$(DOCS_PYTHON) -m pip install --quiet --requirement docs/requirements.txt
	@touch $@

# A copy of all pages in target/pages, with the generated ones: one per technique, and the reference.
reference: build
	python3 docs/generate.py

# Links between pages, and from pages to files, lead somewhere.
links: reference
	python3 docs/check_links.py

# Writes docs/schema, for editors of drive and workload files.
schemas: build
	python3 docs/generate.py --schemas

# Man pages of all commands. To read one: man target/man/vpass-life.1
man: build
	mkdir -p target/man
	$(VPASS) man target/man

lint:
	cargo fmt --check
	cargo clippy --release --workspace --all-targets
	@$(MAKE) --no-print-directory faulty
	$(IN_FAULTY) cargo fmt --check
	$(IN_FAULTY) cargo clippy --release -p vpass-oracle --features seeded-bugs --all-targets
	cargo doc --release --no-deps --workspace --quiet
	@if command -v cargo-deny >/dev/null; then cargo deny check bans licenses sources; else echo "cargo-deny is not installed: skipped"; fi

clean:
	cargo clean
