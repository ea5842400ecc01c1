# Measurements. The driver is bench/bench.py; it prints tables and writes
# $(O)/bench.json. A part alone (bench-capture, …) writes $(O)/bench-PART.json.
# bench-capture also runs the parts cold and throw, and draws the chart
# $(O)/bench-capture.svg.
#
# Large measurements are not part of bench: bench-reader-large, a report of a
# billion events, needs 6 GB of disk in $(O); bench-exports, the cost of each
# export of 100 million events, 4 GB; bench-queries, queries of an index of 100
# million rows, 2 GB. bench-ui measures the page of `gnomon serve` in a browser;
# ROWS=100000000 also scrolls through that many allocations, which takes 3 GB.
#
#   make bench-arch  instructions of a capture on each architecture, or one (ARCH), by
#                    qemu
#   make bench-peers beside other profilers and unwinders, installed where they can
#                    be: a quarter of an hour, as some are slow; not part of bench
#   make bench-charts    writes what bench-peers measured last into README.md and
#                    docs/BENCHMARKS.md, as tables and charts
#   make soak        redis for MINUTES (30) in the modes for long runs
#   BENCH_QUICK=1    fewer and shorter runs, a minute or three a part

.PHONY: bench
BENCH_PARTS := capture cold throw barriers hooks programs lives \
	instructions options reader reader-large exports queries ui
BENCH_DIR := $(O)/bench
# Not all compilers make tables for C.
BENCH_CFLAGS := $(BASE_CFLAGS) -D_GNU_SOURCE -O2 -g -funwind-tables \
	-fno-omit-frame-pointer

BENCH_BIN := $(addprefix $(BENCH_DIR)/,bench-capture bench-capture-fp \
	bench-cold bench-throw bench-pairs bench-lives bench-run \
	bench-measure bench-generate bench-queries bench-index bench-ui-heap \
	replay)

$(BENCH_DIR)/%.o: bench/%.c $(call made-by,bench) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -c -o $@ $<

$(BENCH_DIR)/%.o: bench/%.S $(call made-by,bench) | $(call packages,build)
	$(call say,AS,$@)mkdir -p $(@D)
	$(Q)$(CC) $(INCLUDE) -MMD -MP -c -o $@ $<

# Calls as compilers make them by default, and with frame pointers to walk.
$(BENCH_DIR)/call_tree.o $(BENCH_DIR)/pair_cost.o: \
	BENCH_CFLAGS += -fomit-frame-pointer
$(BENCH_DIR)/call_tree_fp.o: bench/call_tree.c $(call made-by,bench) \
		| $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -c -o $@ $<
ifdef CROSSED
# One header for all architectures.
$(BENCH_DIR)/call_tree.o: BENCH_CFLAGS += -I$(HEADERS)
$(BENCH_DIR)/call_tree.o: $(HEADERS)/valgrind/callgrind.h \
	$(HEADERS)/valgrind/valgrind.h
endif
# -O2 would unroll the loop, whose call must stay a single one.
$(BENCH_DIR)/capture_cost.o: BENCH_CFLAGS += -O1

# The capture bench embeds the unwinder as the preload library does, but without
# the loader hooks.
BENCH_UNWIND_OBJ := $(addprefix $(BENCH_DIR)/,unwinders.o \
	unwinder_entries.o framehop.o segments.o) \
	$(filter-out %/stubs.o %/hooks_raw.o,$(ARCH_OBJ)) $(UNWIND_OBJ)
BENCH_COST_OBJ := $(BENCH_DIR)/capture_cost.o $(BENCH_UNWIND_OBJ)
$(BENCH_DIR)/bench-capture: $(BENCH_DIR)/call_tree.o $(BENCH_COST_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -ldl
$(BENCH_DIR)/bench-capture-fp: $(BENCH_DIR)/call_tree_fp.o $(BENCH_COST_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -ldl

# The crate framehop, opened at run time. It is optional: without cargo, or if
# cargo cannot fetch the crates, tables have no row for it.
FRAMEHOP_SO := $(BENCH_DIR)/libbench_framehop.so
$(FRAMEHOP_SO): $(addprefix bench/framehop/,Cargo.toml Cargo.lock src/lib.rs) \
		| $(call packages,build)
	$(call say,CARGO,$@)mkdir -p $(BENCH_DIR)/cargo
	$(Q)if CARGO_NET_RETRY=0 CARGO_HTTP_TIMEOUT=20 \
			CARGO_TARGET_DIR=$(abspath $(BENCH_DIR)/cargo) \
			cargo build --quiet --release --locked \
			--manifest-path bench/framehop/Cargo.toml \
			>$@.log 2>&1; then \
		cp $(BENCH_DIR)/cargo/release/$(@F) $@; \
	else \
		rm -f $@; \
		echo "framehop is not built (see $@.log): left out"; \
	fi

# A loop over libunwind's unw_step, opened at run time as well, and left out where
# libunwind is not.
UNW_STEP_SO := $(BENCH_DIR)/libbench_unw_step.so
$(UNW_STEP_SO): bench/unw_step.c $(call made-by,bench) \
		| $(call packages,build peers)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)if ! $(CC) $(BENCH_CFLAGS) -fPIC -shared -o $@ $< -lunwind \
			2>$@.log; then \
		rm -f $@; \
		echo "unw_step is not built (see $@.log): left out"; \
	fi

# memray from PyPI, in a folder of its own. It can be done without, too.
MEMRAY := $(BENCH_DIR)/memray/bin/memray
$(MEMRAY): bench/requirements.txt | $(call packages,python peers)
	$(call say,PIP,$@)mkdir -p $(BENCH_DIR)
	$(Q)if ! { rm -rf $(BENCH_DIR)/memray && \
			/usr/bin/python3 -m venv $(BENCH_DIR)/memray && \
			$(BENCH_DIR)/memray/bin/pip install --quiet \
				--retries 0 --timeout 20 -r $<; } \
			>$(BENCH_DIR)/memray.log 2>&1; then \
		rm -rf $(BENCH_DIR)/memray; \
		echo "memray is not installed (see $(BENCH_DIR)/memray.log):" \
			"left out"; \
	fi

$(BENCH_DIR)/bench-cold: $(BENCH_DIR)/cold_cost.o $(BENCH_UNWIND_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -ldl
$(BENCH_DIR)/bench-throw: bench/throw_cost.cc $(call made-by,bench) \
		| $(call packages,c++)
	$(call say,CXX,$@)mkdir -p $(@D)
	$(Q)$(CXX) -std=gnu++17 -Wall -Wextra -Wshadow \
		$(if $(WERROR),-Werror) -O2 -g -MMD -MP -MF $@.d -o $@ $<
$(BENCH_DIR)/bench-pairs: $(BENCH_DIR)/pair_cost.o
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -lpthread
$(BENCH_DIR)/bench-lives: $(BENCH_DIR)/life_cost.o
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^
$(BENCH_DIR)/bench-ui-heap: $(BENCH_DIR)/ui_heap.o
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -lpthread
$(BENCH_DIR)/bench-run: $(BENCH_DIR)/run_counted.o
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^
# Replays the output of `gnomon export --format replay` with any allocator.
$(BENCH_DIR)/replay: $(addprefix $(BENCH_DIR)/,replay_player.o replay_input.o \
		replay_resident.o)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ -lpthread

# Generated traces with the statistics of real ones (bench/models).
$(BENCH_DIR)/bench-measure: $(BENCH_DIR)/trace_measure.o \
		$(BENCH_DIR)/trace_model.o $(CLI_CORE)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ $(HOST_LIBS)
$(BENCH_DIR)/bench-generate: $(BENCH_DIR)/trace_generate.o \
		$(BENCH_DIR)/trace_encode.o $(BENCH_DIR)/trace_model.o \
		$(CLI_CORE)
	$(call say,LD,$@)true
	$(Q)$(CC) -o $@ $^ $(HOST_LIBS) -lm

# An index, linked with the command's objects.
$(BENCH_DIR)/bench-queries: $(addprefix $(BENCH_DIR)/,query_cost.o \
		store_rows.o) $(filter-out %/cli/main.o,$(CLI_OBJ)) \
		$(HOST_SHARED_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie -o $@ $^ $(HOST_LIBS)

$(BENCH_DIR)/bench-index: $(BENCH_DIR)/index_cost.o \
		$(filter-out %/cli/main.o,$(CLI_OBJ)) $(HOST_SHARED_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie -o $@ $^ $(HOST_LIBS)

# Tests need them, too.
check-build: $(addprefix $(BENCH_DIR)/,bench-generate bench-queries bench-index \
	bench-run replay)

BENCH_RUN = /usr/bin/python3 -B bench/bench.py --out $(O) \
	$(if $(BENCH_QUICK),--quick)

.PHONY: $(addprefix bench-,$(BENCH_PARTS))
bench: all
bench-capture bench-throw bench-hooks bench-programs bench-lives \
	bench-instructions bench-options bench-reader bench-reader-large \
	bench-exports bench-queries bench-ui: all

.PHONY: soak
MINUTES ?= 30
soak: all | $(call packages,$(WANT_soak))
	$(Q)mkdir -p $(BENCH_DIR)
	$(Q)/usr/bin/python3 -B bench/soak.py --build $(O) \
		--minutes $(MINUTES) --json $(BENCH_DIR)/soak.json

bench: $(BENCH_BIN) $(FRAMEHOP_SO) | $(call packages,$(WANT_bench))
	$(Q)$(BENCH_RUN)
$(addprefix bench-,$(BENCH_PARTS)): bench-%: $(BENCH_BIN) \
		| $(call packages,$(WANT_bench))
	$(Q)$(BENCH_RUN) --part $*
bench-capture: $(FRAMEHOP_SO)

.PHONY: bench-peers bench-charts
bench-peers: all $(addprefix $(BENCH_DIR)/,bench-capture bench-pairs bench-run) \
		$(FRAMEHOP_SO) $(UNW_STEP_SO) $(MEMRAY) \
		| $(call packages,$(WANT_bench-peers))
	$(Q)$(BENCH_RUN) --part peers
bench-charts:
	$(Q)$(BENCH_RUN) --write-docs .
bench-ui: export ROWS := $(ROWS)
bench-ui: | $(call packages,$(WANT_bench-ui))

# Instructions of a capture on each architecture with a port and a compiler,
# including this machine's, counted by qemu; with ARCH, on that one. The plugin
# is built for qemu, so for this machine.
COUNT_PLUGIN := $(ARCH_HOST)/bench/count_plugin.so
$(COUNT_PLUGIN): bench/count_plugin.c bench/count_mark.h $(call made-by,bench)
	$(call say,LD,$@)mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 $(WARN) -I. -O2 -fPIC -shared \
		-fvisibility=hidden -o $@ $<

.PHONY: bench-arch bench-port
bench-port: $(BENCH_DIR)/bench-capture
	$(Q)bench/bench_arch.py $(ARCH) $(abspath $(COUNT_PLUGIN)) $(abspath $<) \
		$(or $(EMULATOR),qemu-$(ARCH))
bench-arch: $(COUNT_PLUGIN)
	$(Q)+echo "| 30 frames | known stack | 1 changed | 3 changed | all walked |"; \
	echo "|---|---|---|---|---|"; $(call each-port,$(ARCH) \
		$(if $(ARCH_GIVEN),,$(filter-out $(ARCH_LEFT_OUT),\
		$(ARCH_PORTS))),bench-port)
