# `make run` shows gradsan at work on a script with real bugs; `make test` runs every check.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test check lint-precision test-torch test-torch-versions format picture programs accuracy reliability unseen unseen-check fix-check meaning bench bench-taps bench-effect bench-memory bench-rl bench-averaging clean-agents faults hostile load third-party llm processes ray bench-distributed benchmark benchmark-full benchmark-peers docs docs-rules clean bench-seeds bench-curves llm-planted llm-callback llm-cost lock-check lock-torch bench-alternatives

run: $(READY)
	$(BIN)/gradsan run --fail-on never examples/leaky_dqn.py

test: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	scripts/install-browser & browser=$$!; $(BIN)/mypy; checked=$$?; wait $$browser && exit $$checked
	$(BIN)/pytest -q -n 2 --dist worksteal

# The two minutes to run after every change: form, types, every rule on its own examples, the shape of the house.
CHECKED := tests/unit/test_rooms.py tests/unit/test_rules.py tests/unit/test_judge_on_plain_ids.py \
	tests/unit/test_trace_schema.py tests/lint/test_checks.py tests/docs/test_catalogue.py tests/formats/test_sarif.py

check: $(READY)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/pytest -q -n 2 --dist worksteal $(CHECKED)

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

picture: $(READY)
	$(BIN)/python scripts/terminal_picture.py

# Every program of tests/programs in both modes; `make test` tries only some in deep mode.
programs: $(READY)
	GRADSAN_ALL_MODES=1 $(BIN)/pytest -q -n 2 tests/programs tests/unit/test_selection.py

# The corpus is not part of the project: give its folder, as in `make accuracy CORPUS=../corpus`.
accuracy: $(READY)
	$(BIN)/python benchmarks/accuracy.py $(CORPUS)

# Bugs that no rule was written for; see benchmarks/unseen.py for what UNSEEN can be.
unseen: $(READY)
	$(BIN)/python benchmarks/unseen.py $(UNSEEN)

# The pairs and the right programs of the rules about meaning, counted; writes docs/meaning.md. MEANING="--minutes 8" stops then.
meaning: $(READY)
	$(BIN)/python -W ignore benchmarks/meaning.py $(MEANING)

# Runs with and without gradsan compared: output, status, weights, random state; RELIABILITY="jit_ fork_" picks.
reliability: $(READY)
	$(BIN)/python -W ignore benchmarks/reliability.py $(RELIABILITY)

# What `gradsan fix` repairs, and whether the repaired programs learn what their twins learn; writes the table of
# docs/how-to/fix.md and the repairs that `gradsan explain` shows. An hour or more, without --every 6; FIX="--corpus ../corpus", FIX="--only dqn" picks.
fix-check: $(READY)
	$(BIN)/python -W ignore benchmarks/fix.py $(FIX)

# What `gradsan lint` says about some fifty packages from the index, and its recall; writes the tables of docs/lint.md.
# `make lint-precision CORPUS=../corpus` counts recall on that folder, too.
lint-precision: $(READY)
	$(BIN)/python -W ignore benchmarks/lint.py $(if $(CORPUS),--corpus $(CORPUS))

# The locks of all programs of tests/programs: the same in every run, and another for every bug than for its twin?
# LOCK="dqn --pairs" picks; LOCK="--every 8" tries every eighth for sameness.
lock-check: $(READY)
	$(BIN)/python -W ignore benchmarks/lock.py $(LOCK)

unseen-check: $(READY)
	$(BIN)/python benchmarks/unseen_check.py

bench: $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt matplotlib
	$(BIN)/python -W ignore benchmarks/overhead.py $(BENCH)

bench-taps: $(READY)
	$(BIN)/python -W ignore benchmarks/taps.py

bench-effect: $(READY)
	$(BIN)/python -W ignore benchmarks/effect.py

# What other tools cost (docs/alternatives.md), in an environment of their own that sees the project's torch.
bench-alternatives: $(READY)
	test -x .venv-alternatives/bin/python || $(BIN)/python -m venv .venv-alternatives
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> $$(.venv-alternatives/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/project.pth
	.venv-alternatives/bin/python -m pip install --quiet -c constraints.txt wandb==0.31.0 torchlens==2.36.1
	.venv-alternatives/bin/python -W ignore benchmarks/alternatives.py

bench-memory: $(READY)
	UPDATES=$(or $(UPDATES),200000) $(BIN)/python benchmarks/memory.py

# Ten seeds of PPO as one batched update against one seed, and the returns of twenty both ways; docs/rl-seeds.md.
bench-seeds: $(READY)
	$(BIN)/python -W ignore benchmarks/rl_seeds.py $(BENCH)

# Short learning curves on MuJoCo and Atari, ours and Stable-Baselines3's, in an environment of their own; writes
# docs/rl-curves.md. BENCH="--tasks sac-hopper --steps 50000" picks.
MUJOCO_VENV := .venv-mujoco

bench-curves: $(MUJOCO_VENV)/.ready-mujoco
	$(MUJOCO_VENV)/bin/python -W ignore benchmarks/rl_curves.py $(BENCH)

$(MUJOCO_VENV)/.ready-mujoco: pyproject.toml constraints.txt
	test -x $(MUJOCO_VENV)/bin/python || $(PYTHON) -m venv $(MUJOCO_VENV) || python3 -m venv $(MUJOCO_VENV)
	$(MUJOCO_VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(MUJOCO_VENV)/bin/python -m pip install --quiet -c constraints.txt torch==2.13.0
	$(MUJOCO_VENV)/bin/python -m pip install --quiet -c constraints.txt -e ".[mujoco,atari]" stable-baselines3
	touch $@

# Trains the reference agents and Stable-Baselines3 in turns, and writes docs/rl-bench.md. Takes hours; what is
# measured already (benchmarks/results/rl.jsonl) is kept. BENCH="--tasks ppo-cartpole --seeds 5" picks, and
# BENCH="--share 0.1" measures speed alone.
bench-rl: $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group bench
	$(BIN)/python benchmarks/rl.py $(BENCH)

# What playing with averaged weights is worth, as in BENCH="ppo Acrobot-v1 --seeds 8".
bench-averaging: $(READY)
	$(BIN)/python -W ignore benchmarks/rl_averaging.py $(BENCH)

# Every reference agent under its own sanitizer, as a user would run it; some minutes. AGENTS="--only sac td3" picks.
clean-agents: $(READY)
	$(BIN)/python -W ignore benchmarks/clean_agents.py $(AGENTS)

# Faults in every function of ours that a run calls, one after the other (docs/reliability.md); about half a second of
# processor time each. FAULTS="--sample 200 --seed 3", FAULTS="--only 'judge\.engine'" or FAULTS="--door watch" picks.
faults: $(READY)
	$(BIN)/python tests/reliability/injector.py $(FAULTS)

# 5,000 damaged or hostile traces, progress files and checkpoints; HOSTILE="--files 500 --seed 3" picks.
hostile: $(READY)
	$(BIN)/python -W ignore tests/reliability/hostile.py $(HOSTILE)

# Large programs, bare and watched; LOAD="threads --updates 100000" picks.
load: $(READY)
	$(BIN)/python benchmarks/load.py $(LOAD)

# Mutants of right programs, an oracle, and the peers' scores; writes docs/benchmark.md. The sample is to take less than
# 15 minutes on two idle cores; BENCHMARK="--sample 100 --originals 12" makes it smaller. CORPUS adds more reports.
# What is in the results already is not run again: `rm build/benchmark*.jsonl` after a change of the tool.
SCORED := gradsan=gradsan run --quiet --fail-on never --format sarif --output {output} {program}
SCORE = PYTHONPATH=benchmarks $(BIN)/python -W ignore -m gradsan_benchmark --tool "$(SCORED)" --page docs/benchmark.md \
	$(if $(CORPUS),--corpus $(CORPUS))

benchmark: $(READY) benchmark-peers
	mkdir -p build
	$(SCORE) --command "make benchmark" --results build/benchmark.jsonl --misses build/benchmark-misses.md \
		--peers all --at-most 780 $(BENCHMARK)

# Every program, every operator, every place, every peer: many hours. Takes up what was broken off.
benchmark-full: $(READY) benchmark-peers
	mkdir -p build
	$(SCORE) --command "make benchmark-full" --results build/benchmark-full.jsonl --misses build/benchmark-misses.md \
		--sample all --originals all --sites all --reports all --peers all $(BENCHMARK)

# The peers, in an environment of their own that sees the project's torch.
benchmark-peers: $(READY) .venv-benchmark/.ready

.venv-benchmark/.ready: benchmarks/gradsan_benchmark/peers/requirements.txt
	test -x .venv-benchmark/bin/python || $(BIN)/python -m venv .venv-benchmark
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> $$(.venv-benchmark/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/project.pth
	sed '/^libcst==/d' constraints.txt > .venv-benchmark/constraints.txt  # TorchFix wants an older one
	.venv-benchmark/bin/python -m pip install --quiet -c .venv-benchmark/constraints.txt -r $<
	touch $@

# The documentation site, in build/site; its tools are installed only here.
docs: docs-rules $(VENV)/.docs-ready
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --builder html docs build/site

docs-rules: $(READY)
	$(BIN)/python scripts/rule_pages.py
	$(BIN)/python scripts/api_page.py

$(VENV)/.docs-ready: $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group docs
	touch $@

# One stamp for the whole environment: it is rebuilt only when the pins or the package metadata change.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet -c constraints.txt -e . --group dev
	touch $@

# Real processes and ranks: what `make test` has no time for.
processes: $(READY)
	GRADSAN_PROCESSES=1 $(BIN)/pytest -q -n 0 tests/processes

# Two ranks under bare torchrun and under gradsan, block by block; DISTRIBUTED="--updates 2000 --rounds 3" picks.
bench-distributed: $(READY)
	$(BIN)/python benchmarks/distributed.py $(DISTRIBUTED)

# Other people's libraries, in an environment of their own; torch first, so that none of them pulls another.
THIRD_PARTY := .venv-third-party
THIRD_PARTY_READY := $(THIRD_PARTY)/.ready

third-party: $(THIRD_PARTY_READY)
	$(THIRD_PARTY)/bin/python benchmarks/third_party/run.py --page docs/third-party.md
	$(MAKE) llm llm-planted

$(THIRD_PARTY_READY): pyproject.toml benchmarks/third_party/constraints.txt
	test -x $(THIRD_PARTY)/bin/python || $(PYTHON) -m venv $(THIRD_PARTY) || python3 -m venv $(THIRD_PARTY)
	$(THIRD_PARTY)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(THIRD_PARTY)/bin/python -m pip install --quiet -c benchmarks/third_party/constraints.txt torch==2.13.0
	$(THIRD_PARTY)/bin/python -m pip install --quiet -c benchmarks/third_party/constraints.txt \
		-e . stable-baselines3 sb3-contrib d3rlpy pfrl pygame
	touch $@

# TRL's trainers on tiny models, bare and under gradsan, in an environment of their own; LLM="grpo dpo" picks.
LLM_VENV := .venv-llm

llm: $(LLM_VENV)/.ready
	$(LLM_VENV)/bin/python -W ignore benchmarks/llm/run.py $(LLM)

llm-planted: $(LLM_VENV)/.ready
	$(LLM_VENV)/bin/python -W ignore benchmarks/llm/run_planted.py $(LLM)

llm-callback: $(LLM_VENV)/.ready
	$(LLM_VENV)/bin/python -m pytest -q -n 0 -W ignore benchmarks/llm/test_callback.py benchmarks/llm/test_include.py

llm-cost: $(LLM_VENV)/.ready
	ROUNDS=$(or $(ROUNDS),3) $(LLM_VENV)/bin/python -W ignore benchmarks/llm/cost.py $(LLM)

$(LLM_VENV)/.ready: pyproject.toml constraints.txt
	test -x $(LLM_VENV)/bin/python || $(PYTHON) -m venv $(LLM_VENV) || python3 -m venv $(LLM_VENV)
	$(LLM_VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(LLM_VENV)/bin/python -m pip install --quiet -c constraints.txt torch==2.13.0
	$(LLM_VENV)/bin/python -m pip install --quiet -c constraints.txt -e . trl==1.16.0 transformers==5.22.2 \
		accelerate==1.15.0 peft==0.21.2 datasets tensordict pytest pytest-xdist
	touch $@

# Ray's actors and tasks, RLlib, seeds on a cluster: with the real library, in an environment of its own. RLlib asks for
# a gymnasium of its own, so that one pin is left out.
RAY_VENV := .venv-ray

ray: $(RAY_VENV)/.ready
	$(RAY_VENV)/bin/python -m pytest -q tests/clusters $(RAY)

$(RAY_VENV)/.ready: pyproject.toml constraints.txt
	test -x $(RAY_VENV)/bin/python || $(PYTHON) -m venv $(RAY_VENV) || python3 -m venv $(RAY_VENV)
	sed '/^gymnasium==/d' constraints.txt > $(RAY_VENV)/constraints.txt
	$(RAY_VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(RAY_VENV)/bin/python -m pip install --quiet -c $(RAY_VENV)/constraints.txt torch==2.13.0
	$(RAY_VENV)/bin/python -m pip install --quiet -c $(RAY_VENV)/constraints.txt -e ".[ray]" "ray[default,rllib]==2.60.0" \
		pytest
	touch $@

# The core of the suite (rules, programs, watch, plugin, tutorial, course) on another torch, on the CPU, in an
# environment of its own: `make test-torch TORCH=2.6.0`, with another Python: `PYTHON=python3.13`. The registry's
# builds for Linux do not load without their GPU libraries, so each takes some 5 GB.
OLDEST_TORCH := 2.6.0
NEWEST_TORCH := 2.15.0
TORCH ?= $(NEWEST_TORCH)
TORCH_VENV = .venv-torch-$(TORCH)$(patsubst %,-%,$(filter-out python3.11,$(PYTHON)))
CORE := tests/unit tests/programs tests/api/test_watch.py tests/api/test_pytest_plugin.py \
	tests/integration/test_not_watched.py tests/integration/test_leaky_example.py \
	tests/docs/test_tutorial.py tests/learn/test_learn_exercises.py

test-torch: $(TORCH_VENV)/.ready
	CUDA_VISIBLE_DEVICES= $(TORCH_VENV)/bin/python -m pytest -q -n 2 $(CORE)

# Locks written with another torch, compared with the project's own, of every 30th program: TORCH=2.6.0 picks.
lock-torch: $(READY) $(TORCH_VENV)/.ready
	CUDA_VISIBLE_DEVICES= $(TORCH_VENV)/bin/python -W ignore benchmarks/lock_versions.py --write build/locks-$(TORCH) $(LOCK)
	$(BIN)/python -W ignore benchmarks/lock_versions.py build/locks-$(TORCH)

test-torch-versions:
	$(MAKE) test-torch TORCH=$(OLDEST_TORCH)
	$(MAKE) test-torch TORCH=$(NEWEST_TORCH)

.venv-torch-%/.ready: pyproject.toml constraints.txt
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	sed '/^torch==/d' constraints.txt > $(@D)/constraints.txt
	echo "torch==$(TORCH)" >> $(@D)/constraints.txt
	$(@D)/bin/python -m pip install --quiet -c $(@D)/constraints.txt -e ".[learn,rl]" hypothesis pytest pytest-xdist
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-* build dist .mypy_cache .pytest_cache .ruff_cache
