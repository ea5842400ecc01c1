# Hostile input: broken traces, and fuzz targets.
#
#   make fuzz SECONDS=60 [F=name]   each fuzz target, or one, for this time
#   make hostile                    builds what reads broken traces and files under
#                                   sanitizers
#
# `make check` runs those programs, and every fuzz target over its corpus
# (tests/fuzz/corpus/NAME.tar.gz), as built by gcc: tests/system/test_hostile.py.

# Programs that read hostile input in their own process, under sanitizers.
HOSTILE := $(patsubst tests/hostile/%.c,$(TEST_O)/hostile/%,\
	$(wildcard tests/hostile/*.c))
$(TEST_O)/hostile/%: tests/hostile/%.c $(CORES) $(call made-by,fuzz)
	$(call say,HOSTILE,$@)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(call wish,FLAGS,$<) \
		-o $@ $< $(wish-link) $(CORES_LINK) $(HOST_LIBS) -lxxhash

# A fuzz target with a main that gives it files.
REPLAY := $(patsubst tests/fuzz/%.c,$(TEST_O)/replay/%,\
	$(wildcard tests/fuzz/fuzz_*.c))
$(TEST_O)/replay/%: tests/fuzz/%.c tests/fuzz/replay.c $(CORES) \
		$(call made-by,fuzz)
	$(call say,REPLAY,$@)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(call wish,FLAGS,$<) \
		-o $@ $< tests/fuzz/replay.c $(wish-link) $(CORES_LINK) \
		$(HOST_LIBS) -lxxhash

.PHONY: hostile hostile-programs
hostile-programs: $(HOSTILE) $(REPLAY)
hostile: | $(call packages,$(WANT_hostile))
	+$(Q)$(SAN_MAKE) hostile-programs
check-build: hostile

# Fuzz targets define LLVMFuzzerTestOneInput and are linked as unit tests are.
# The fuzzer's findings go to $(FUZZ_O)/corpus; `make fuzz-merge` adds to the
# tree those that the corpus there does not cover.
SECONDS ?= 60
FUZZ_O := $(O)/fuzz
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_$(or $(F),*).c)
FUZZ := $(patsubst tests/fuzz/%.c,$(FUZZ_O)/bin/%,$(FUZZ_SRC))
# Adding 0 to the null pointer of an empty array is harmless; AddressSanitizer
# finds reads through pointers out of bounds.
FUZZ_CC := clang $(SANITIZE) -fno-sanitize=pointer-overflow \
	-fsanitize=fuzzer-no-link
.PHONY: fuzz fuzz-run
fuzz: | $(call packages,$(WANT_fuzz))
	$(Q)$(MAKE) --no-print-directory O=$(FUZZ_O) CC='$(FUZZ_CC)' \
		FUZZ_O=$(FUZZ_O) SECONDS=$(SECONDS) fuzz-run
fuzz-run: $(FUZZ)
	$(Q)for f in $(FUZZ); do n=$${f##*/fuzz_}; echo "$$n"; \
		mkdir -p $(FUZZ_O)/corpus/$$n; \
		rm -rf $(FUZZ_O)/known/$$n; \
		tests/tools/corpus unpack $$n $(FUZZ_O)/known/$$n; \
		ASAN_OPTIONS=malloc_context_size=8 $$f -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix=$$f. -print_final_stats=1 \
		$(FUZZ_O)/corpus/$$n $(FUZZ_O)/known/$$n || exit 1; done
.PHONY: fuzz-merge
fuzz-merge:
	$(Q)for n in $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%); do \
		rm -rf $(FUZZ_O)/known/$$n; \
		tests/tools/corpus unpack $$n $(FUZZ_O)/known/$$n; \
		$(FUZZ_O)/bin/fuzz_$$n -merge=1 -use_counters=0 \
		-max_len=4096 \
		$(FUZZ_O)/known/$$n $(FUZZ_O)/corpus/$$n && \
		tests/tools/corpus pack $$n $(FUZZ_O)/known/$$n || exit 1; \
		done

$(FUZZ_O)/bin/%: tests/fuzz/%.c $(CORES) $(call made-by,fuzz)
	$(call say,FUZZ,$@)mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer $(TEST_CFLAGS) $(call wish,FLAGS,$<) -o $@ \
		$< $(wish-link) $(CORES_LINK) $(HOST_LIBS) -lxxhash

