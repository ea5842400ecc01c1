# The library that lives in the target.

# libzstd as one relocatable object: what it needs from a C library is renamed
# to shims of ours (preload/zstd_shims.c), what it defines is hidden.
ZSTD_A ?= $(shell $(CC) -print-file-name=libzstd.a)

$(LIB): $(ARCH_OBJ) $(UNWIND_OBJ) $(PRELOAD_OBJ) preload/exports.map
	$(call say,LD,$@)true
	$(Q)$(CC) -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
		-Wl,--version-script=preload/exports.map \
		-Wl,--build-id -Wl,-soname,libgnomon.so -o $@ \
		$(filter %.o,$^)
