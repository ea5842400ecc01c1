# Style checks, and warnings of compilers and checkers.
#
#   make lint        all of it: style and dependencies between folders, both
#                    compilers' warnings as errors, what the library exports,
#                    types of the page, and the two below
#   make lint-shell  shellcheck over all scripts
#   make lint-tidy   clang-tidy over cli/ (.clang-tidy). Its checks do not fit
#                    target code, which has no C library

# gcc's warnings come from a build with WERROR=1, in a folder of its own, unless
# everything is built so (.ci/run). With clang, the linter also reads the
# objects of the library and the recorder; for the command it needs only the
# warnings.
LINT_GCC_O := $(if $(and $(WERROR),$(filter gcc,$(CC))),$(O),$(O)/lint-gcc)
LINT_CLANG_O := $(O)/lint-clang
LINT_MAKE := --no-print-directory WERROR=1
.PHONY: lint lint-clang lint-shell lint-tidy
lint: | $(call packages,$(WANT_lint))
	$(Q)/usr/bin/python3 tests/tools/lint.py source
	$(Q)$(MAKE) --no-print-directory lint-shell lint-tidy
	$(Q)tsc -p cli/page
	$(Q)tsc -p cli/serve/page
	$(Q)$(MAKE) $(LINT_MAKE) O=$(LINT_GCC_O) CC=gcc all
	$(Q)$(MAKE) $(LINT_MAKE) O=$(LINT_CLANG_O) CC=clang lint-clang
	$(Q)/usr/bin/python3 tests/tools/lint.py objects \
		$(LINT_GCC_O)/target/preload $(LINT_CLANG_O)/target/preload
	$(Q)/usr/bin/python3 tests/tools/lint.py library \
		$(LINT_GCC_O)/libgnomon.so $(LINT_CLANG_O)/libgnomon.so
	$(Q)/usr/bin/python3 tests/tools/lint.py recorder \
		$(LINT_GCC_O)/gnomon-recorder $(LINT_CLANG_O)/gnomon-recorder
lint-clang: $(LIB) $(RECORDER) api $(patsubst %,$(O)/warned/%,$(CLI_SRC))
$(O)/warned/%.c: %.c $(call made-by,host) | $(PROTO_C)
	$(call say,WARN,$<)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -MF $(@:.c=.d) -MT $@ $(HOST_CFLAGS) \
		-fsyntax-only $< && touch $@

# Files that are not C.
SHELL_SCRIPTS = $(shell git ls-files -z -- .ci debian demo packaging tests/tools | \
	xargs -0 awk 'FNR == 1 && /^.!.*\/(ba)?sh/ { print FILENAME } { nextfile }') \
	packaging/PKGBUILD packaging/APKBUILD
lint-shell: | $(call packages,lint)
	$(Q)shellcheck -x -P SCRIPTDIR -S warning $(SHELL_SCRIPTS)

# Some 0.1 s of processor time a file; the static analyzer would take 2 s.
TIDY_FLAGS := $(filter-out -MMD -MP,$(BASE_CFLAGS)) $(HOST_CFLAGS) \
	-DPAGE_FOLDER='"$(abspath $(PAGE_O))"'
lint-tidy: $(PROTO_C) $(SERVE_TABLE) | $(call packages,lint)
	$(Q)printf '%s\n' $(CLI_SRC) $(RECORDER_SRC) | xargs -P $$(nproc) -n 20 \
		sh -c 'clang-tidy --quiet "$$@" -- $(subst ','\'',$(TIDY_FLAGS)) \
			2>/dev/null' sh
