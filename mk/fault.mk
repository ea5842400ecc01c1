# A library that fails on purpose (tests/fault/fault.c), for the tests only.
#
#   make check-faults        each failure in turn, 1000 kills, the full disk at
#                            every chunk; some of each is in make check

FAULT_O := $(O)/fault
FAULT_LIB := $(FAULT_O)/libgnomon.so
FAULT_OBJ := $(patsubst %.c,$(FAULT_O)/%.o,$(UNWIND_SRC) $(PRELOAD_SRC) \
	$(wildcard arch/$(ARCH)/*.c) tests/fault/fault.c)
FAULT_WRAP := $(foreach s,area_alloc live_reserve arch_clone_task,-Wl,--wrap=$(s))

# The first folder has a syscall.h that goes before the architecture's.
$(FAULT_O)/%.o: %.c $(call made-by,fault) | $(call packages,build)
	$(call say,FAULT,$@)mkdir -p $(@D)
	$(Q)$(CC) -Itests/fault/inject $(BASE_CFLAGS) $(CFLAGS) \
		$(TARGET_CFLAGS) -c -o $@ $<
$(FAULT_O)/preload/hooks%.o: TARGET_CFLAGS += -fomit-frame-pointer

$(FAULT_LIB): $(FAULT_OBJ) $(filter %.o,$(patsubst %.S,$(O)/target/%.o,\
		$(ARCH_SRC))) $(ZSTD_OBJ) preload/exports.map \
		$(call made-by,fault)
	$(call say,LD,$@)true
	$(Q)$(CC) -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
		-Wl,--version-script=preload/exports.map -Wl,--gc-sections \
		$(FAULT_WRAP) -Wl,-soname,libgnomon.so -o $@ $(filter %.o,$^)

FAULT_TESTS := $(sort $(wildcard tests/fault/test_*.py))
FAULT_FULL := $(FAULT_TESTS) tests/system/test_kill.py

.PHONY: check-faults
check-faults: check-build | $(call packages,$(WANT_check))
	$(Q)GNOMON_TEST_FULL=1 $(RUN_TESTS) $(FAULT_FULL)
