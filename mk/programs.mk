# Real programs of Debian, bare and recorded.
#
#   make deps-programs              the packages they come from (by apt)
#   make check-programs [T=text]    all, or those with that in "group: name";
#                                   writes docs/COMPATIBILITY.md once all ran
#
# check-programs installs none of these: what is missing is left out, and said. Some
# of the packages would start a server; RUNLEVEL=1 tells Debian not to.

COMPAT_RUN = GNOMON_BUILD=$(abspath $(O)) /usr/bin/python3 -B \
	tests/compat/check.py $(if $(T),-p '$(T)') \
	--results $(O)/compatibility.json --document docs/COMPATIBILITY.md

.PHONY: deps-programs check-programs
deps-programs:
	$(Q)RUNLEVEL=1 $(PACKAGES_RUN) $(WANT_check-programs) programs
$(TEST_O)/libcounter.so: tests/compat/libcounter.c $(call made-by,test) \
		| $(call packages,build)
	$(call say,SHARED,$@)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -fPIC -shared -fno-builtin -o $@ $<
check-programs: all $(TEST_O)/trace_dump $(TEST_O)/libcounter.so \
		| $(call packages,$(WANT_check-programs))
	$(Q)$(COMPAT_RUN)
