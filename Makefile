# gnomon: one Makefile for everything.
#
#   make              the command, the recorder and the libraries, into $(O)
#   make demo         build, record two programs, print their reports
#   make check        build and run all tests
#   make bench        the measurements of the README
#   make check-programs   docs/COMPATIBILITY.md (deps-programs: its programs)
#   make lint         style, dependencies between folders, warnings as errors
#   make coverage     which lines of the command the unit tests execute
#   make install      prefix= DESTDIR= …, uninstall, install-target (mk/install.mk)
#   make tarball      an archive for any Linux of this architecture (mk/tarball.mk)
#   make deps         packages to build; deps-test, deps-bench: to test, measure
#   make check-arch   the tests that each port must pass (mk/arch_test.mk)
#   make ARCH=aarch64 for another architecture (mk/arch.mk; deps-cross)
#
# Variables: ARCH, O (output directory), V=1 (show commands), CC, CXX, CROSS,
# CFLAGS, CPPFLAGS, LDFLAGS.

.DEFAULT_GOAL := all
include mk/arch.mk
# Each folder here has only one spelling: objects record how they were made.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
PREFIX ?= /usr/local
VERSION := 0.2.0
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' $(1) $(2);)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
WARN += $(if $(WERROR),-Werror)
INCLUDE := -I. -Iarch -Iarch/$(PORT)
CFLAGS ?= -O2 -g
BASE_CFLAGS := -std=gnu11 $(WARN) $(INCLUDE) -MMD -MP \
	-DGNOMON_VERSION='"$(VERSION)"' $(CPPFLAGS)

# Code in the target: freestanding, hidden, one TLS word, no canaries, whatever
# CFLAGS request. -fno-builtin-*: our own calloc must not become a call of
# itself.
TARGET_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fno-stack-protector -U_FORTIFY_SOURCE -fno-builtin -fno-lto \
	-fno-omit-frame-pointer -fno-exceptions -fasynchronous-unwind-tables \
	-fno-profile-arcs -fno-test-coverage \
	-D_GNU_SOURCE -DGNOMON_TARGET
# clang has no such passes once it may not replace loops by functions. A wide
# load must not read words that were stored one by one: the store buffer cannot
# forward them (some 12 cycles a frame).
TARGET_CFLAGS += $(if $(findstring clang,$(CC)),-fno-slp-vectorize,\
	-fno-tree-loop-distribute-patterns -fno-store-merging \
	-fno-tree-slp-vectorize)
include arch/$(PORT)/flags.mk
HOST_CFLAGS := -fPIE -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-I$(O)/generated
HOST_LIBS := -lzstd -llzma -liberty -lcapstone -lpcre2-8 -lnettle \
	-lprotobuf-c -lz -lsqlite3 -ledit -lmicrohttpd -lm -lpthread -ldl

ARCH_SRC := $(wildcard arch/$(PORT)/*.S arch/$(PORT)/*.c)
UNWIND_SRC := $(wildcard unwind/*.c unwind/*/*.c)
PRELOAD_SRC := $(wildcard preload/*/*.[cS])
# Only some ports patch functions (arch.h).
ifeq ($(wildcard arch/$(PORT)/patching.S),)
PRELOAD_SRC := $(filter-out preload/patch/%,$(PRELOAD_SRC))
endif
include mk/cross.mk
RECORDER_SRC := $(filter-out %/compressor_$(if $(RECORDER_ZSTD),none,zstd).c,\
	$(wildcard cli/recorder/*.c cli/recorder/*/*.c))
CLI_SRC := $(filter-out cli/recorder/%,$(wildcard cli/*.c cli/*/*.c \
	cli/*/*/*.c))

target-obj = $(patsubst %,$(O)/target/%.o,$(basename $(1)))
host-obj = $(patsubst %,$(O)/host/%.o,$(basename $(1)))

ARCH_OBJ := $(call target-obj,$(ARCH_SRC))
UNWIND_OBJ := $(call target-obj,$(UNWIND_SRC))
PRELOAD_OBJ := $(call target-obj,$(PRELOAD_SRC))
CLI_OBJ := $(call host-obj,$(CLI_SRC))

LIB := $(O)/libgnomon.so
CMD := $(O)/gnomon
RECORDER := $(O)/gnomon-recorder

# The command is built for the host.
.PHONY: all
all: $(LIB) $(if $(CROSSED),,$(CMD)) $(RECORDER)

include mk/packages.mk
include mk/flags.mk
include mk/target.mk
include mk/host.mk
include mk/recorder.mk
include mk/page.mk
include mk/unwind.mk
include mk/api.mk
include mk/install.mk
include mk/tarball.mk
include mk/fault.mk
include mk/test.mk
include mk/lint.mk
include mk/coverage.mk
include mk/arch_test.mk
include mk/fuzz.mk
include mk/bench.mk
include mk/docs.mk
include mk/demo.mk
include mk/programs.mk

$(O)/target/%.o: %.c $(call made-by,target) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(TARGET_CFLAGS) -c -o $@ $<

$(O)/target/%.o: %.S $(call made-by,target) | $(call packages,build)
	$(call say,AS,$@)mkdir -p $(@D)
	$(Q)$(CC) $(INCLUDE) -MMD -MP -fPIC -c -o $@ $<

$(O)/host/%.o: %.c $(call made-by,host) | $(call packages,build) \
		$(HOST_HEADERS)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(HOST_CFLAGS) -c -o $@ $<

# After all files that add to these variables.
COMPILED := CC BASE_CFLAGS CFLAGS LDFLAGS
$(eval $(call remember,target,$(COMPILED) TARGET_CFLAGS))
$(eval $(call remember,host,$(COMPILED) HOST_CFLAGS HOST_LIBS \
	RECORDER_LINK RECORDER_LIBS))
$(eval $(call remember,recorder,$(COMPILED) HOST_CFLAGS OTHER_CFLAGS \
	RECORDER_LINK RECORDER_LIBS))
$(eval $(call remember,api,$(COMPILED) TARGET_CFLAGS AR))
$(eval $(call remember,unwind,$(COMPILED) TARGET_CFLAGS LD OBJCOPY AR \
	UNWIND_HIDE))
$(eval $(call remember,tarball,$(COMPILED) HOST_LIBS STATIC_LIBS))
$(eval $(call remember,page,ESBUILD ESBUILD_FLAGS SERVE_FILES))
$(eval $(call remember,fault,$(COMPILED) TARGET_CFLAGS HOST_CFLAGS))
$(eval $(call remember,test,CC CXX TEST_CFLAGS PROGRAM_FLAGS HOST_LIBS))
$(eval $(call remember,fuzz,CC TEST_CFLAGS HOST_LIBS))
$(eval $(call remember,bench,CC CXX BENCH_CFLAGS HOST_LIBS))
$(eval $(call remember,demo,CC))

.PHONY: clean
clean:
	rm -rf $(O)

# check-fresh keeps whole systems there, which have files of that name.
-include $(shell find $(O) -path $(O)/fresh -prune -o -type f -name '*.d' \
	-print 2>/dev/null)
