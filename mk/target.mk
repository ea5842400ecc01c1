# The library that lives in the target.

# libzstd as one relocatable object: what it needs from a C library is renamed
# to shims of ours (preload/zstd_shims.c), what it defines is hidden. Only the
# compressing half is taken, because only its entry points are asked for.
# Where libzstd.a lies is asked of the compiler when it is wanted: when the
# makefiles are read, neither may be installed yet. ZSTD_A= names another.
ZSTD_A ?=
ZSTD_FILE = $(or $(ZSTD_A),$$($(CC) -print-file-name=libzstd.a))
OBJCOPY ?= objcopy
ZSTD_OBJ := $(O)/target/zstd.o
ZSTD_ENTRIES := ZSTD_compress2 ZSTD_initStaticCCtx ZSTD_CCtx_setParameter \
	ZSTD_estimateCCtxSize ZSTD_isError
# Whatever is left undefined is renamed; a name without a shim fails to link.
$(ZSTD_OBJ): $(call made-by,target) | $(call packages,build)
	$(call say,LD,$@)mkdir -p $(@D)
	$(Q)zstd=$(ZSTD_FILE); printf '$@: %s\n%s:\n' $$zstd $$zstd >$(@:.o=.d); \
		$(LD) -r -o $@.all $(foreach s,$(ZSTD_ENTRIES),-u $(s)) $$zstd
	$(Q)$(OBJCOPY) $(foreach s,$(ZSTD_ENTRIES),--keep-global-symbol=$(s)) \
		$$(nm -u $@.all | awk '!/_GLOBAL_OFFSET_TABLE_/ \
			{ print "--redefine-sym " $$2 "=gnomon_zstd_" $$2 }') \
		$@.all $@
	$(Q)rm -f $@.all

# The hooks' fast path has no use for a frame pointer; those that ask for their
# caller's (HOOKS_CALLER) have one all the same.
$(O)/target/preload/hooks.o: TARGET_CFLAGS += -fomit-frame-pointer

LIB_LINK = $(CC) -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
	-Wl,-z,initfirst -Wl,--version-script=preload/exports.map \
	-Wl,--gc-sections -Wl,--build-id
$(LIB): $(ARCH_OBJ) $(UNWIND_OBJ) $(PRELOAD_OBJ) $(ZSTD_OBJ) \
		preload/exports.map $(call made-by,target)
	$(call say,LD,$@)true
	$(Q)$(LIB_LINK) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^)
