# Tests.
#
#   make check [T=pattern]   everything, or the tests whose name has the pattern;
#                            with COMPLETE=1 no package of deps-test may be
#                            missing (tests/skips)
#   make check-unit          the unit tests alone
#   make check-faults        each failure in turn, in full (mk/fault.mk)
#   make check-asan          unit tests of cli/, including the recorder, and of
#                            unwind/ under sanitizers
#   make check-tsan          multi-threaded units, under ThreadSanitizer
#   make check-fresh [ROOMS="bare gcc"] [T=pattern]
#                            the README's quick start in bare Debians, as root
#
# A test's build options are in its source, one line each:
#   // FLAGS: -fopenmp       compiler and linker flags
#   // LINK: a.c b.S         more sources, from the test's own folder
#   // CC: musl-gcc          another compiler
# Programs are built without optimisations that hide an allocation or a call.

TEST_O := $(O)/tests

.PHONY: deps-test
deps-test: $(TEST_O)/ui/.installed
	$(Q)$(PACKAGES_RUN) $(WANT_deps-test)

# The browser driver is not in Debian: it comes from npm, in exactly the
# versions of the lock file. Without network, tests that need a browser are
# skipped, and say so.
$(TEST_O)/ui/.installed: tests/ui/package.json tests/ui/package-lock.json \
		| $(call packages,ui)
	$(call say,NPM,$(@D))mkdir -p $(@D) && cp $^ $(@D)
	$(Q)cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund \
		--loglevel=error >/dev/null && touch $(@F) || \
		echo "npm ci: tests in a browser will be left out" >&2

TEST_CFLAGS := -std=gnu11 -g -O1 -Wall -Wextra -D_GNU_SOURCE $(INCLUDE) \
	-I$(O)/generated -DGNOMON_DEBUG_ASSERTS \
	-DGNOMON_VERSION='"$(VERSION)"' $(CPPFLAGS) $(LDFLAGS)
PROGRAM_FLAGS := -g -O1 -fno-inline -fno-builtin -fno-optimize-sibling-calls \
	-Wall -Wextra -Itests/programs -Ilibrary -L$(O)

# The build options in a test's source (see above): $(call wish,WORD,source).
wish = $$(sed -n 's,^// $(1): *,,p' $(2))
wish-cc = $$(cc=$(call wish,CC,$<); echo $${cc:-$(1)})
wish-link = $$(for f in $(call wish,LINK,$<); do echo $(dir $<)$$f; done)

# The objects of tests are compiled once more, with all assertions
# (unwind/base/assertion.h).
CHECKED_O := $(O)/checked
checked = $(patsubst $(O)/%,$(CHECKED_O)/%,$(filter-out %.pb-c.o,$(1))) \
	$(filter %.pb-c.o,$(1))
$(CHECKED_O)/target/%.o: %.c $(call made-by,target) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(TARGET_CFLAGS) -DGNOMON_DEBUG_ASSERTS \
		-c -o $@ $<
$(CHECKED_O)/target/%.o: %.S $(call made-by,target) | $(call packages,build)
	$(call say,AS,$@)mkdir -p $(@D)
	$(Q)$(CC) $(INCLUDE) -MMD -MP -fPIC -c -o $@ $<
$(CHECKED_O)/host/%.o: %.c $(call made-by,host) | $(PROTO_C) \
		$(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(HOST_CFLAGS) -DGNOMON_DEBUG_ASSERTS \
		-c -o $@ $<

# All of gnomon's objects except those that would replace the C library's
# functions.
TARGET_CORE := $(O)/libtarget-core.a
CLI_CORE := $(O)/libcli-core.a
PRELOAD_CHECKED := $(call checked,$(foreach o,$(PRELOAD_OBJ),\
	$(if $(filter hooks% entries.o,$(notdir $o)),,$o)))
TARGET_CHECKED := $(PRELOAD_CHECKED) $(call checked,$(UNWIND_OBJ) \
	$(filter-out $(O)/target/arch/$(PORT)/hooks%.o \
	$(O)/target/arch/$(PORT)/stubs.o,$(ARCH_OBJ)))
$(TARGET_CORE): $(TARGET_CHECKED)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^
# The recorder except its main, and the parts that it shares with the library.
RECORDER_CORE := $(O)/librecorder-core.a
$(RECORDER_CORE): $(call checked,$(filter-out \
		$(O)/host/cli/recorder/recorder_main.o,$(RECORDER_OBJ)))
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^
CORES := $(TARGET_CORE) $(RECORDER_CORE) $(CLI_CORE)
CORES_LINK := -Wl,--start-group $(CORES) -Wl,--end-group
$(CLI_CORE): $(call checked,$(filter-out $(O)/host/cli/main.o,$(CLI_OBJ)))
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

# Independent answers about ELF files and DWARF, to compare with.
JUDGES := -ldw -lelf

UNIT_SRC := $(sort $(foreach d,* */* */*/*,$(wildcard tests/unit/$d/test_*.c)))
UNIT := $(patsubst tests/unit/%.c,$(TEST_O)/unit/%,$(UNIT_SRC))
$(TEST_O)/unit/%: tests/unit/%.c $(CORES) $(call made-by,test) | $(call packages,unit)
	$(call say,TEST,$@)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(call wish,FLAGS,$<) \
		-o $@ $< $(wish-link) $(CORES_LINK) -lcmocka $(HOST_LIBS) \
		$(JUDGES) -lxxhash

TOOL_SRC := $(wildcard tests/tools/*.c)
TOOLS := $(patsubst tests/tools/%.c,$(TEST_O)/%,$(TOOL_SRC))
$(TEST_O)/%: tests/tools/%.c $(CORES) $(call made-by,test) | $(call packages,unit)
	$(call say,TOOL,$@)mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(call wish,FLAGS,$<) \
		-o $@ $< $(wish-link) $(CORES_LINK) $(HOST_LIBS) $(JUDGES)

# Programs lie in folders by subject; what is built from them does not.
PROGRAM_SRC := $(wildcard tests/programs/*/*.c tests/programs/*/*.cc)
PROGRAM_LIB_SRC := $(foreach f,$(PROGRAM_SRC),$(if $(filter lib%,$(notdir $f)),$f))
# For another architecture only the programs that its tests need
# (mk/arch_test.mk).
ifdef CROSSED
PROGRAM_LIB_SRC := $(addprefix tests/programs/,allocators/libbump.c \
	allocators/libown_new.c libraries/libepoch_a.c libraries/libepoch_b.c)
endif
PROGRAM_LIBS := $(patsubst %,$(TEST_O)/%.so,$(basename $(notdir $(PROGRAM_LIB_SRC))))
PROGRAMS := $(addprefix $(TEST_O)/,$(basename $(notdir $(filter-out \
	$(PROGRAM_LIB_SRC),$(PROGRAM_SRC)))))

# The rules of one folder.
define program-rules
$(TEST_O)/lib%.so: $(1)/lib%.c $$(call made-by,test) \
		| api $$(call packages,c++ targets)
	$$(call say,SHARED,$$@)mkdir -p $$(@D)
	$$(Q)$$(call wish-cc,$$(CC)) $$(PROGRAM_FLAGS) -fPIC -shared -MMD -MP \
		-MF $$@.d -MT $$@ -o $$@ $$< $$(wish-link) $$(call wish,FLAGS,$$<)
$(TEST_O)/%: $(1)/%.c $$(call made-by,test) \
		| $$(PROGRAM_LIBS) api $$(call packages,c++ targets)
	$$(call say,PROGRAM,$$@)mkdir -p $$(@D)
	$$(Q)$$(call wish-cc,$$(CC)) $$(PROGRAM_FLAGS) -MMD -MP -MF $$@.d -MT $$@ \
		-o $$@ $$< $$(wish-link) -L$(TEST_O) -Wl,-rpath,'$$$$ORIGIN' \
		$$(call wish,FLAGS,$$<)
$(TEST_O)/%: $(1)/%.cc $$(call made-by,test) \
		| $$(PROGRAM_LIBS) api $$(call packages,c++ targets)
	$$(call say,PROGRAM,$$@)mkdir -p $$(@D)
	$$(Q)$$(call wish-cc,$$(CXX)) $$(PROGRAM_FLAGS) -MMD -MP -MF $$@.d -MT $$@ \
		-o $$@ $$< $$(wish-link) -L$(TEST_O) -Wl,-rpath,'$$$$ORIGIN' \
		$$(call wish,FLAGS,$$<)
endef
$(foreach d,$(sort $(patsubst %/,%,$(dir $(PROGRAM_SRC)))),\
	$(eval $(call program-rules,$d)))

# The targets of the matrix (tests/system/matrix.py), in a folder of their own.
MATRIX := $(patsubst tests/matrix/%,$(TEST_O)/matrix/%,\
	$(basename $(wildcard tests/matrix/*.c tests/matrix/*.cc)))
MATRIX_BUILD = $(PROGRAM_FLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< \
	$(wish-link) -L$(TEST_O) -Wl,-rpath,'$$ORIGIN/..' $(call wish,FLAGS,$<)
$(TEST_O)/matrix/%: tests/matrix/%.c $(call made-by,test) \
		| $(PROGRAM_LIBS) $(call packages,c++ targets)
	$(call say,MATRIX,$@)mkdir -p $(@D)
	$(Q)$(call wish-cc,$(CC)) $(MATRIX_BUILD)
$(TEST_O)/matrix/%: tests/matrix/%.cc $(call made-by,test) \
		| $(PROGRAM_LIBS) $(call packages,c++ targets)
	$(call say,MATRIX,$@)mkdir -p $(@D)
	$(Q)$(call wish-cc,$(CXX)) $(MATRIX_BUILD)

.PHONY: test-programs
test-programs: $(PROGRAM_LIBS) $(PROGRAMS) $(TOOLS) $(MATRIX)

SYSTEM := $(sort $(wildcard tests/system/test_*.py tests/system/cfi_*.py))
RUN_TESTS = GNOMON_BUILD=$(abspath $(O)) CC='$(CC)' CXX='$(CXX)' \
	/usr/bin/python3 tests/run $(if $(T),-p '$(T)') \
	$(if $(COMPLETE),--complete)

.PHONY: check check-unit check-asan check-asan-run
check: check-build $(TEST_O)/ui/.installed | $(call packages,$(WANT_check))
	$(Q)$(RUN_TESTS) $(UNIT) $(SYSTEM) $(FAULT_TESTS)
.PHONY: check-build
check-build: all $(UNIT) test-programs $(FAULT_LIB) $(FAULT_RECORDER)
check-unit: $(UNIT) | $(call packages,$(WANT_check-unit))
	$(Q)$(RUN_TESTS) $(UNIT)

# Units of cli/ and unwind/ only: a sanitizer's run-time library does not
# support what preload/ does to memory and registers. Nor does it support units
# that read unknown frames of their own stack, or count the modules of their
# process.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
ASAN_STEMS := rules_caller rules_library rules_step \
	$(filter-out capture expect image,\
	$(notdir $(basename $(UNWIND_SRC) $(CLI_SRC) $(RECORDER_SRC) \
	$(RECORDER_SHARED))))
# The objects of mk/fuzz.mk go into the same folder: one make after the other.
# At -O2 gcc takes three times as long with sanitizers, and its warnings are
# then wrong.
SAN_O := $(O)/asan
SAN_MAKE = mkdir -p $(SAN_O) && flock $(SAN_O) $(MAKE) --no-print-directory \
	O=$(SAN_O) CC='$(CC) $(SANITIZE)' CFLAGS='-O1 -g1' WERROR=
unit-tests = $(filter $(addprefix %/test_,$(1)),$(UNIT))
ASAN_UNIT := $(call unit-tests,$(ASAN_STEMS))
check-asan: | $(call packages,$(WANT_check-asan))
	+$(Q)$(SAN_MAKE) check-asan-run
check-asan-run: $(ASAN_UNIT)
	$(Q)ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
		$(RUN_TESTS) $(filter-out $(LEAK_UNIT),$(ASAN_UNIT))
	$(Q)$(RUN_TESTS) $(LEAK_UNIT)
# Most tests free nothing when a check fails or they end; these do, so that a
# leak is the code's.
LEAK_UNIT := $(call unit-tests,reader notes)

# Multi-threaded code, under ThreadSanitizer.
.PHONY: check-tsan check-tsan-run
TSAN_O := $(O)/tsan
TSAN_UNIT := $(call unit-tests,reader notes rows_threads store_threads \
	store_readahead)
check-tsan: | $(call packages,$(WANT_check-asan))
	$(Q)mkdir -p $(TSAN_O) && flock $(TSAN_O) $(MAKE) \
		--no-print-directory O=$(TSAN_O) CC='$(CC) -fsanitize=thread' \
		WERROR= check-tsan-run
check-tsan-run: $(TSAN_UNIT)
	$(Q)$(RUN_TESTS) $(TSAN_UNIT)

# Not part of check: it downloads some gigabytes of packages, and takes an hour.
.PHONY: check-fresh
check-fresh: | $(call packages,fresh)
	$(Q)FRESH_DIR=$(abspath $(O))/fresh T='$(T)' tests/tools/check-fresh \
		$(ROOMS)
