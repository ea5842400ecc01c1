# The program that records one process, started by it (preload/start/launch.c).
# It needs nothing where it runs but the kernel: a container may have no
# libraries, or others.

# What the library in the target has as well.
RECORDER_SHARED := preload/ring/gate.c preload/base/options.c \
	preload/base/error_words.c \
	preload/ring/ring_shared.c preload/base/signal_list.c
# What the command has as well: births and ends of blocks, ELF files, checks of
# options.
RECORDER_READER := cli/base/deep_call.c cli/base/hash.c cli/base/room.c \
	cli/base/mount_view.c cli/base/whole.c \
	cli/model/core/blocks.c cli/model/core/edges.c cli/model/core/movings.c \
	cli/model/core/pairing.c cli/model/core/weigh.c \
	cli/model/stats/figures.c cli/command/options_agree.c \
	cli/symbol/elf/elf_class.c cli/symbol/elf/elf_symbols.c \
	cli/symbol/elf/elf_tables.c cli/symbol/elf/reduced.c
RECORDER_OBJ := $(call host-obj,$(RECORDER_SRC))
RECORDER_LINK ?= -static-pie
RECORDER_LIBS := $(SYSROOT_LINK) $(if $(RECORDER_ZSTD),-lzstd) -lm

$(RECORDER): $(RECORDER_OBJ) $(call host-obj,$(RECORDER_SHARED) \
		$(RECORDER_READER)) \
		$(call made-by,host)
	$(call say,LD,$@)true
	$(Q)$(CC) $(RECORDER_LINK) -o $@ $(filter %.o,$^) $(RECORDER_LIBS)
