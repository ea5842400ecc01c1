# Tests of the ports:
#
#   make check-arch          all of them, one after the other: this machine's, and
#                            those with an installed cross compiler
#   make check-arch ARCH=aarch64 [T=pattern]
#                            one: programs of tests/matrix and tests/programs,
#                            built for the target, with and without recording
#                            (tests/arch); by qemu's user emulation, if this
#                            machine cannot run them. This machine's command,
#                            which HOST_CC and HOST_CXX build into build, reads
#                            their traces
#
# EMULATOR: the command that runs a program of the target, with its options.
# QEMU_CPU chooses a processor for qemu.

EMULATOR_CPU_mips64el := mips64el
EMULATOR_CPU_arm := arm
EMULATOR_NAME = qemu-$(or $(EMULATOR_CPU_$(ARCH)),$(ARCH))
EMULATOR_PREFIX = /usr/$(patsubst %-,%,$(notdir $(CROSS)))
EMULATOR ?= $(if $(CROSSED),$(EMULATOR_NAME) -L $(EMULATOR_PREFIX))

ARCH_PROGRAMS := $(addprefix $(TEST_O)/,basic halves leaky_own lifecycle \
	exceptions cancel exec_chain forks numbered starts turnover fibers signals \
	epochs dumped numbers privileges own_new own_new_linked \
	$(addprefix matrix/,throws throws_late throws_static terminate \
	thread_ends jumps jumps_checked copied_stacks \
	moved_stacks shifting backtraces deepest children throws_signed \
	signals_alternate untabled))
# The command that reads traces: built for this machine, by a make of its own. A
# caller that tests several ports (each-port) passes the path of its build.
ARCH_HOST := $(if $(CROSSED),build,$(O))
HOST_CC ?= $(if $(CROSSED),gcc,$(CC))
HOST_CXX ?= $(if $(CROSSED),g++,$(CXX))
HOST_TOOLS := $(ARCH_HOST)/tests/trace_dump
HOST_PROGRAMS := $(ARCH_HOST)/tests/basic
.PHONY: host-part
ifndef CROSSED
host-part: all $(HOST_TOOLS) $(HOST_PROGRAMS)
else ifeq ($(origin ARCH_HOST),file)
host-part:
	+$(Q)env -u AR -u LD -u OBJCOPY -u CFLAGS \
		-u CPPFLAGS -u LDFLAGS \
		MAKEFLAGS="$${MAKEFLAGS%%-- *}" $(MAKE) --no-print-directory \
		ARCH=$(NATIVE) CROSS= O=$(ARCH_HOST) CC='$(HOST_CC)' \
		CXX='$(HOST_CXX)' $(if $(V),V=$(V)) all $(HOST_TOOLS) \
		$(HOST_PROGRAMS)
endif

# Where return addresses can be signed, they are here (arch/.../flags.mk).
$(TEST_O)/matrix/throws_signed: PROGRAM_FLAGS += $(SIGN_RETURNS)

# Not all compilers make unwind tables for C, which barriers need. Code without
# tables is unwound by its instructions.
$(ARCH_PROGRAMS): PROGRAM_FLAGS += -funwind-tables
$(TEST_O)/matrix/untabled: PROGRAM_FLAGS += -O2 -fno-unwind-tables \
	-fno-asynchronous-unwind-tables

# Emulators cannot execute the target's recorder by its name. A script has the
# name under which tests find the recorder. Both may be moved together.
EMULATED := $(O)/emulated
EMULATOR_PATH = $(or $(shell command -v $(firstword $(EMULATOR))),\
	/usr/bin/$(firstword $(EMULATOR)))
$(EMULATED)/gnomon-recorder: $(MAKEFILE_LIST)
	$(Q)mkdir -p $(@D)/by
	$(Q)ln -sf $(EMULATOR_PATH) $(@D)/by/gnomon-recorder
	$(Q)printf '#!/bin/sh\nd=$${0%%/*}\nexec "$$d/by/gnomon-recorder" %s %s "$$@"\n' \
		'$(wordlist 2,9,$(EMULATOR))' '"$$d/../gnomon-recorder"' >$@ && \
		chmod +x $@
ifdef CROSSED
ifneq ($(shell command -v $(firstword $(EMULATOR))),)
all: $(EMULATED)/gnomon-recorder
endif
endif

# Architecture-independent units of unwind/, and the contract (arch/arch.h).
# They need cmocka, which is not packaged for every target.
ARCH_UNIT := $(if $(CROSSED),$(wildcard $(addsuffix /libcmocka.so,\
	$(SYSROOT_LIB))),yes)
ARCH_UNIT := $(if $(ARCH_UNIT),$(addprefix $(TEST_O)/arch/,test_contract test_prologue \
	test_barrier test_stack base/test_assertion base/test_memory elf/test_vdso \
	$(addprefix rules/test_,cfi_index exidx expr granule rules_exidx \
	rules_library) $(addprefix image/test_,image_kind image_ranges image_record \
	image_unwinder lsda)))
# The parts of the library that they test.
ARCH_CORE := $(O)/libarch-core.a
$(ARCH_CORE): $(filter-out $(PRELOAD_CHECKED),$(TARGET_CHECKED))
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^
ARCH_UNIT_CC = $(CC) $(TEST_CFLAGS) -fno-omit-frame-pointer \
	$(addprefix -I,$(wildcard $(SYSROOT)/usr/include)) -MMD -MP -MF $@.d \
	-MT $@ $(call wish,FLAGS,$<) -o $@ $< $(wish-link)
ARCH_UNIT_LINK = $(SYSROOT_LINK) \
	$(addprefix -Wl$(comma)-rpath$(comma),$(abspath $(SYSROOT_LIB))) \
	-lcmocka -pthread
comma := ,
$(TEST_O)/arch/test_contract $(TEST_O)/arch/test_prologue: \
		$(TEST_O)/arch/%: tests/arch/%.c $(ARCH_CORE) \
		$(call made-by,test) | $(call packages,unit)
	$(call say,TEST,$@)mkdir -p $(@D)
	$(Q)$(ARCH_UNIT_CC) $(ARCH_CORE) $(ARCH_UNIT_LINK)
$(TEST_O)/arch/%: tests/unit/unwind/%.c $(ARCH_CORE) $(call made-by,test) \
		| $(call packages,unit)
	$(call say,TEST,$@)mkdir -p $(@D)
	$(Q)$(ARCH_UNIT_CC) $(ARCH_CORE) $(ARCH_UNIT_LINK)

ARCH_TESTS := $(sort $(wildcard tests/arch/test_*.py))
.PHONY: check-arch check-port
check-port: all host-part $(ARCH_UNIT) $(ARCH_PROGRAMS) \
		$(if $(CROSSED),$(EMULATED)/gnomon-recorder)
	$(Q)GNOMON_BUILD=$(abspath $(ARCH_HOST)) GNOMON_TARGET=$(abspath $(O)) \
		GNOMON_EMULATOR='$(EMULATOR)' GNOMON_ARCH=$(ARCH) CC='$(CC)' \
		/usr/bin/python3 tests/run $(if $(T),-p '$(T)') \
		$(if $(COMPLETE),--complete) $(ARCH_UNIT) $(ARCH_TESTS)

# All ports, and those whose compiler is missing here.
ARCH_PORTS := aarch64 arm mips64el mips64
ARCH_LEFT_OUT = $(foreach a,$(ARCH_PORTS),\
	$(if $(shell command -v $(CROSS_$a)g++ && command -v \
		qemu-$(or $(EMULATOR_CPU_$a),$a)),,$a))
# Makes a goal for each port: $(call each-port,ARCH...,goal).
each-port = for a in $(1); do o=$(O); [ $$a = $(ARCH) ] || o=$(O)/$$a; \
	MAKEFLAGS="$${MAKEFLAGS%%-- *}" $(MAKE) --no-print-directory ARCH=$$a \
		O=$$o ARCH_HOST=$(ARCH_HOST) $(if $(V),V=$(V)) $(if $(T),T='$(T)') \
		$(if $(COMPLETE),COMPLETE=1) $(2) || exit 1; done

ifeq ($(ARCH_GIVEN),)
# The tests of each port print how many passed; the last line has the sum.
ARCH_LOGS := $(O)/tests/arch-logs
check-arch: all host-part | $(if $(COMPLETE),deps-cross)
	$(Q)mkdir -p $(ARCH_LOGS) && rm -f $(ARCH_LOGS)/*
	$(Q)+for a in $(ARCH) $(if $(COMPLETE),$(ARCH_PORTS),\
			$(filter-out $(ARCH_LEFT_OUT),$(ARCH_PORTS))); do \
		echo "check-arch: $$a"; \
		( $(call each-port,$$a,check-port) ) 2>&1 | \
		tee $(ARCH_LOGS)/$$a; \
		grep -q '^[0-9]* passed' $(ARCH_LOGS)/$$a || \
			echo '0 passed, 1 failed' >>$(ARCH_LOGS)/$$a; done
	$(Q)$(foreach a,$(if $(COMPLETE),,$(ARCH_LEFT_OUT)),\
		echo "check-arch: $a is left out: no $(CROSS_$a)g++ or \
		qemu-$(or $(EMULATOR_CPU_$a),$a) (make deps-cross)";)
	$(Q)awk '/^[0-9]+ passed, [0-9]+ failed/ { p += $$1; f += $$3; s += $$5 } \
		END { printf "%d passed, %d failed%s\n", p, f, \
			s ? ", " s " skipped" : ""; exit f > 0 }' \
		$(ARCH_LOGS)/*
else
check-arch: check-port
endif
