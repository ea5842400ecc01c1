# The recorder of one process, started by that process (preload/start/launch.c).
# It needs only the kernel: a container may have no libraries, or others.

# Shared with the library in the target.
RECORDER_SHARED := preload/ring/gate.c preload/base/options.c \
	preload/base/error_words.c \
	preload/ring/ring_shared.c preload/base/signal_list.c
# Shared with the command: allocations and ends of blocks, ELF files, checks of
# options.
RECORDER_READER := cli/base/deep_call.c cli/base/hash.c cli/base/try_alloc.c \
	cli/base/mount_view.c cli/base/io_full.c cli/model/core/blocks.c \
	cli/model/core/edges.c cli/model/core/pending_reallocs.c \
	cli/model/core/pairing.c cli/model/core/weight.c \
	cli/model/stats/figures.c cli/command/options_check.c \
	cli/symbol/elf/elf_class.c cli/symbol/elf/elf_symbols.c \
	cli/symbol/elf/elf_tables.c cli/symbol/elf/reduced.c
# Reads and writes the memory shared with the target.
RECORDER_WORDS := $(RECORDER_SRC) preload/ring/gate.c \
	preload/ring/ring_shared.c
RECORDER_OBJ := $(call host-obj,$(RECORDER_SRC))
RECORDER_LINK ?= -static-pie
RECORDER_LIBS := $(SYSROOT_LINK) $(if $(RECORDER_ZSTD),-lzstd) -lm $(if $(CROSSED),,-pthread)

$(RECORDER): $(RECORDER_OBJ) $(call host-obj,$(RECORDER_SHARED) \
		$(RECORDER_READER)) \
		$(call made-by,host)
	$(call say,LD,$@)true
	$(Q)$(CC) $(LDFLAGS) $(RECORDER_LINK) -o $@ $(filter %.o,$^) $(RECORDER_LIBS)

# The same for targets of the other byte order, run here by emulators
# (unwind/base/byte_order.h). clang cannot swap fields. gcc replaces a loop that copies
# an array of them by memcpy (12; tests/unit/unwind/base/test_byte_order_other.c), so the
# optimisation that merges fields is off.
OTHER_CFLAGS := -DGNOMON_OTHER_ORDER -Werror=scalar-storage-order \
	-Werror=incompatible-pointer-types -Werror=int-conversion \
	-fno-tree-loop-distribute-patterns -fno-tree-vectorize \
	-fno-tree-slp-vectorize -fno-store-merging
other-obj = $(patsubst %,$(O)/other/%.o,$(basename $(1)))
ifeq ($(CROSSED)$(findstring clang,$(CC)),)
RECORDER_OTHER := $(RECORDER)-other
all: $(RECORDER_OTHER)
endif
$(O)/other/%.o: %.c $(call made-by,recorder) | $(call packages,build) \
		$(HOST_HEADERS)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(HOST_CFLAGS) $(OTHER_CFLAGS) -c \
		-o $@ $<
$(RECORDER)-other: $(call other-obj,$(RECORDER_WORDS)) \
		$(call host-obj,$(filter-out $(RECORDER_WORDS),\
			$(RECORDER_SHARED) $(RECORDER_READER))) \
		$(call made-by,recorder)
	$(call say,LD,$@)true
	$(Q)$(CC) $(LDFLAGS) $(RECORDER_LINK) -o $@ $(filter %.o,$^) $(RECORDER_LIBS)
