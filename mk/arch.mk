# The architecture to build for, and its compiler.
#
#   make ARCH=aarch64       the files for a target, into build/aarch64: the
#                           libraries and the recorder. The command, which reads
#                           traces of all architectures, is built for the host
#   CROSS=prefix-           another cross compiler than Debian's; or CC, CXX
#   SYSROOT=dir             has the target's libraries in usr/, as Debian's
#                           packages do. Without a libzstd.a traces are not
#                           compressed
#   make deps-cross         Debian's cross compilers, qemu to run their programs,
#                           and such a folder for each architecture for which
#                           Debian has packages
#
# An architecture is a folder of arch/ (docs/PORTING.md). The default of ARCH is
# the compiler's architecture.

CROSS_aarch64 := aarch64-linux-gnu-
CROSS_arm := arm-linux-gnueabihf-
CROSS_mips64el := mips64el-linux-gnuabi64-
CROSS_mips64 := mips64-linux-gnuabi64-
CROSS_x86_64 := x86_64-linux-gnu-

# The architecture of the build machine.
NATIVE := $(shell uname -m)
ifneq ($(filter-out $(NATIVE),$(ARCH)),)
CROSS ?= $(CROSS_$(ARCH))
endif
CC := $(if $(filter default undefined,$(origin CC)),$(CROSS)gcc,$(CC))
CXX := $(if $(filter default undefined,$(origin CXX)),$(CROSS)g++,$(CXX))
AR := $(if $(filter default undefined,$(origin AR)),$(CROSS)ar,$(AR))
LD := $(if $(filter default undefined,$(origin LD)),$(CROSS)ld,$(LD))
OBJCOPY ?= $(CROSS)objcopy

# The default is the compiler's architecture; check-arch then tests all.
ARCH_GIVEN := $(ARCH)

# Empty while the compiler is missing: mk/packages.mk reports it.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH ?= $(or $(MACHINE),$(NATIVE))
# Both byte orders are in one folder.
PORT := $(patsubst mips64el,mips64,$(ARCH))
ifeq ($(wildcard arch/$(PORT)/regs.h),)
$(error no port to $(ARCH): arch has $(patsubst arch/%/regs.h,%,\
	$(wildcard arch/*/regs.h)))
endif
ifneq ($(filter-out $(ARCH),$(MACHINE)),)
$(error $(CC) is for $(MACHINE), not for $(ARCH))
endif
# Not empty if the target's programs cannot run on the build machine.
CROSSED := $(filter-out $(NATIVE),$(ARCH))
O ?= build$(if $(CROSSED),/$(ARCH))
