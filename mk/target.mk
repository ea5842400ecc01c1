# The library in the target.

# The hooks' fast path needs no frame pointer; hooks that read their caller's
# (HOOKS_CALLER) have one.
$(O)/target/preload/hooks/hooks.o: TARGET_CFLAGS += -fomit-frame-pointer

# Optimised for size: code for starts, ends, forks and execs, and the hundred
# hooks of non-standard allocator functions, each of which would contain a copy
# of the fast path.
SMALL := api_control api_dump api_pool api_stats api_thread area arenas \
	control_call control_signal credentials environment error_words \
	exec_file exit_status fork_copy guard_block guard_end guard_sweep \
	hooks_dlopen hooks_exec hooks_exit hooks_extensions hooks_fork \
	hooks_guard hooks_identity hooks_lock hooks_longjmp hooks_patch \
	hooks_reentry hooks_tuning identity launch launch_files launch_fork \
	launch_words live_make live_map message optional options patch \
	patch_read patched proc process_end real register_frame replaced_code \
	sampled_set sanitizer seccomp signal_list text variant
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
