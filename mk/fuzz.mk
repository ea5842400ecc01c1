# Bad input: broken traces, and fuzz targets.
#
#   make fuzz SECONDS=60 [F=name]   each fuzz target, or one, for so long
#   make hostile                    broken traces, under sanitizers
#
# `make check` runs the latter, and every fuzz target over its corpus
# (tests/fuzz/corpus/NAME/), as built by gcc: tests/system/test_hostile.py.

# Programs that take bad input in their own process, under sanitizers.
SAN_O := $(O)/asan
HOSTILE := $(patsubst tests/hostile/%.c,$(TEST_O)/hostile/%,\
	$(wildcard tests/hostile/*.c))
$(TEST_O)/hostile/%: tests/hostile/%.c $(TARGET_CORE) $(CLI_CORE)
	$(call say,HOSTILE,$@)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(call wish,FLAGS,$<) \
		-o $@ $< $(wish-link) -Wl,--start-group $(TARGET_CORE) \
		$(CLI_CORE) -Wl,--end-group $(HOST_LIBS) -lxxhash

.PHONY: hostile hostile-programs
hostile-programs: $(HOSTILE) $(REPLAY)
hostile:
	$(Q)$(MAKE) --no-print-directory O=$(SAN_O) CC='$(CC) $(SANITIZE)' \
		hostile-programs
check-build: hostile

# Fuzz targets define LLVMFuzzerTestOneInput and are linked as unit tests are.
SECONDS ?= 60
FUZZ_O := $(O)/fuzz
FUZZ := $(patsubst tests/fuzz/%.c,$(FUZZ_O)/bin/%,$(wildcard tests/fuzz/*.c))
FUZZ_CC := clang $(SANITIZE) -fsanitize=fuzzer-no-link
.PHONY: fuzz fuzz-run
fuzz:
	$(Q)$(MAKE) --no-print-directory O=$(FUZZ_O) CC='$(FUZZ_CC)' \
		FUZZ_O=$(FUZZ_O) SECONDS=$(SECONDS) fuzz-run
fuzz-run: $(FUZZ)
	$(Q)for f in $(FUZZ); do echo "$$f"; mkdir -p $$f.corpus; \
		$$f -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix=$$f. -verbosity=0 $$f.corpus || exit 1; done
$(FUZZ_O)/bin/%: tests/fuzz/%.c $(TARGET_CORE) $(CLI_CORE)
	$(call say,FUZZ,$@)mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer $(TEST_CFLAGS) $(call wish,FLAGS,$<) -o $@ \
		$< $(wish-link) -Wl,--start-group $(TARGET_CORE) $(CLI_CORE) \
		-Wl,--end-group $(HOST_LIBS) -lxxhash

