# Real programs of Debian, with and without recording.
#
#   make deps-programs              the packages they come from (by apt)
#   make check-programs [T=text]    all, or those with the text in "group: name";
#                                   writes docs/COMPATIBILITY.md after a full run
#   make check-programs ARCH=arm    some that Debian has for that architecture, by
#                                   qemu; they are fetched into $(O)/programs
#
# check-programs installs none of these: it skips missing programs, and says so.
# Some of the packages would start a server; RUNLEVEL=1 tells Debian not to.

COMPAT_RUN = GNOMON_BUILD=$(abspath $(O)) /usr/bin/python3 -B \
	tests/compat/check.py $(if $(T),-p '$(T)') \
	--results $(O)/compatibility.json --document docs/COMPATIBILITY.md

.PHONY: deps-programs check-programs
ifdef CROSSED
PROGRAMS_ROOT := $(O)/programs
PROGRAMS_PACKAGES := bash gawk grep jq lua5.4 perl-base python3.11-minimal sed \
	coreutils sqlite3 xz-utils libacl1 libattr1 libbz2-1.0 libc6 libcrypt1 \
	libexpat1 libffi8 libgcc-s1 libgmp10 libjq1 liblua5.4-0 liblzma5 libmpfr6 \
	libonig5 libpcre2-8-0 libpython3.11-minimal libreadline8 libselinux1 \
	libsigsegv2 libsqlite3-0 libssl3 libstdc++6 libtinfo6 zlib1g
$(PROGRAMS_ROOT)/.fetched: mk/programs.mk tests/tools/fetch-sysroot \
		tests/tools/private-apt
	$(if $(DEBIAN_$(ARCH)),,$(error Debian has no packages for $(ARCH)))
	$(call say,FETCH,$(@D))tests/tools/fetch-sysroot $(DEBIAN_$(ARCH)) $(@D) \
		$(PROGRAMS_PACKAGES) && touch $@
check-programs: all host-part $(PROGRAMS_ROOT)/.fetched
	$(Q)GNOMON_BUILD=$(abspath $(ARCH_HOST)) GNOMON_TARGET=$(abspath $(O)) \
		GNOMON_EMULATOR='$(EMULATOR)' GNOMON_ARCH=$(ARCH) /usr/bin/python3 \
		tests/compat/foreign.py $(abspath $(PROGRAMS_ROOT))
else
deps-programs:
	$(Q)RUNLEVEL=1 $(PACKAGES_RUN) $(WANT_check-programs) programs
$(TEST_O)/libcounter.so: tests/compat/libcounter.c $(call made-by,test) \
		| $(call packages,build)
	$(call say,SHARED,$@)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -fPIC -shared -fno-builtin -o $@ $<
check-programs: all $(TEST_O)/trace_dump $(TEST_O)/libcounter.so \
		| $(call packages,$(WANT_check-programs))
	$(Q)$(COMPAT_RUN)
endif
