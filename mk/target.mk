# The library in the target.

# The hooks' fast path needs no frame pointer; hooks that read their caller's
# (HOOKS_CALLER) have one.
$(O)/target/preload/hooks/hooks.o: TARGET_CFLAGS += -fomit-frame-pointer

# Optimised for size: code for starts, ends, forks and execs, and the hundred
# hooks of non-standard allocator functions, each of which would contain a copy
# of the fast path.
SMALL := api_dump api_numbers api_pool api_steer api_thread \
	appear area arenas chosen control_ask control_signal \
	ending environment error_words exec_file exit_status fork_copy guard_block \
	guard_end guard_sweep hooks_exec hooks_exit hooks_fork hooks_guard \
	hooks_life hooks_lock hooks_own hooks_patch hooks_tuning hooks_within ids \
	launch launch_alone launch_files launch_words life live_make live_map loads message \
	moved options patch patch_plan patched proc \
	product real registrar replaced sanitizer seccomp signal_list \
	text
$(foreach s,$(SMALL),$(filter %/$s.o,$(PRELOAD_OBJ))): \
	TARGET_CFLAGS += -Os

# The linker script: every row of the table that has a name in the program.
LIB_MAP := $(O)/generated/exports.map
$(LIB_MAP): preload/exports.map preload/interpose/hooked.def stub/functions.def \
		$(call made-by,target) | $(call packages,build)
	$(call say,MAP,$@)mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -I. -o $@ $<

LIB_LINK = $(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
	-Wl,-z,initfirst -Wl,--version-script=$(LIB_MAP) \
	-Wl,--gc-sections -Wl,--build-id
$(LIB): $(ARCH_OBJ) $(UNWIND_OBJ) $(PRELOAD_OBJ) \
		$(LIB_MAP) $(call made-by,target)
	$(call say,LD,$@)true
	$(Q)$(LIB_LINK) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^) $(TARGET_LIBS)
