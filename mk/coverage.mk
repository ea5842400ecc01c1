# Which lines of the command and the recorder the unit tests execute.
#
#   make coverage [T=pattern]   $(O)/coverage/index.html, and a table of folders
#
# Built in a folder of its own, at -O1: x86-64's words.h does not compile
# without optimisation. Target code is left out: it has no C library, which
# would keep the counters, and may call none (TARGET_CFLAGS). A recorder that is
# killed, or has changed its root, counts nothing.

COVERAGE_O := $(O)/coverage
.PHONY: coverage
coverage: | $(call packages,$(WANT_coverage))
	$(Q)mkdir -p $(COVERAGE_O) && find $(COVERAGE_O) -name '*.gcda' -delete
	+$(Q)$(MAKE) --no-print-directory O=$(COVERAGE_O) WERROR= \
		CFLAGS='-O1 -g1 --coverage -fprofile-update=atomic' \
		LDFLAGS=--coverage check-unit
	$(Q)gcovr --root . --object-directory $(COVERAGE_O) --filter cli/ \
		--exclude-unreachable-branches --print-summary \
		--html-details $(COVERAGE_O)/index.html \
		--json-summary $(COVERAGE_O)/coverage.json \
		$(COVERAGE_O) >$(COVERAGE_O)/summary
	$(Q)cat $(COVERAGE_O)/summary
