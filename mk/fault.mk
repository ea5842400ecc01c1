# A library and a recorder with fault injection (tests/fault/fault.c), for the
# tests only. The library starts the recorder that lies beside it. Both have all
# assertions enabled (unwind/base/assertion.h).
#
#   make check-faults [KILLS=1000]
#                            each failure in turn, KILLS kills, the full disk
#                            at every chunk; make check runs some of each

FAULT_O := $(O)/fault
FAULT_LIB := $(FAULT_O)/libgnomon.so
FAULT_RECORDER := $(FAULT_O)/gnomon-recorder
FAULT_LIB_OBJ := $(patsubst %.c,$(FAULT_O)/target/%.o,$(UNWIND_SRC) \
	$(PRELOAD_SRC) $(wildcard arch/$(PORT)/*.c) tests/fault/fault.c \
	tests/fault/fault_library.c)
FAULT_RECORDER_OBJ := $(patsubst %.c,$(FAULT_O)/host/%.o,$(RECORDER_SRC) \
	$(RECORDER_SHARED) $(RECORDER_READER) tests/fault/fault.c \
	tests/fault/fault_recorder.c)
fault-wrap = $(foreach s,$(1),-Wl,--wrap=$(s))
# Of the C library, as it is linked (tests/fault/fault_recorder.c).
FAULT_CALLS := accept4 access bind close fallocate64 fchown flock fstat64 \
	ftruncate64 getsockopt kill linkat listen lseek64 lstat64 mkdir \
	mmap64 nanosleep open64 poll pread64 read recv rename renameat2 send setgroups \
	setns shmat socket stat64 syscall tgkill uname unlink write

# The first folder has a syscall.h that precedes the architecture's.
$(FAULT_O)/target/%.o: %.c $(call made-by,fault) | $(call packages,build)
	$(call say,FAULT,$@)mkdir -p $(@D)
	$(Q)$(CC) -Itests/fault/inject $(BASE_CFLAGS) $(CFLAGS) \
		$(TARGET_CFLAGS) -DGNOMON_DEBUG_ASSERTS -c -o $@ $<
$(FAULT_O)/target/preload/hooks/hooks.o: TARGET_CFLAGS += -fomit-frame-pointer
$(FAULT_O)/host/%.o: %.c $(call made-by,fault) | $(call packages,build)
	$(call say,FAULT,$@)mkdir -p $(@D)
	$(Q)$(CC) -Itests/fault/inject $(BASE_CFLAGS) $(CFLAGS) \
		$(HOST_CFLAGS) -DGNOMON_DEBUG_ASSERTS -c -o $@ $<

$(FAULT_LIB): $(FAULT_LIB_OBJ) $(filter %.o,$(patsubst %.S,$(O)/target/%.o,\
		$(ARCH_SRC))) $(LIB_MAP) \
		$(call made-by,fault)
	$(call say,LD,$@)true
	$(Q)$(LIB_LINK) $(call fault-wrap,area_alloc arch_clone_task ring_is_valid) \
		-Wl,-soname,libgnomon.so -o $@ $(filter %.o,$^)
$(FAULT_RECORDER): $(FAULT_RECORDER_OBJ) $(call made-by,fault)
	$(call say,LD,$@)true
	$(Q)$(CC) $(RECORDER_LINK) $(call fault-wrap,zeroed_alloc try_alloc_resize \
		try_alloc_lines try_alloc_pages live_reserve $(FAULT_CALLS)) \
		-o $@ $(filter %.o,$^) $(RECORDER_LIBS)

FAULT_TESTS := $(sort $(wildcard tests/fault/test_*.py))
FAULT_FULL := $(FAULT_TESTS) $(addprefix tests/system/,test_kill.py \
	test_index.py)

KILLS ?= 1000

.PHONY: check-faults
check-faults: check-build | $(call packages,$(WANT_check))
	$(Q)GNOMON_TEST_FULL=1 GNOMON_TEST_KILLS=$(KILLS) $(RUN_TESTS) $(FAULT_FULL)
