# Installs the packages that a goal needs, before anything is built.
#
#   make deps          for building; each goal runs what it needs by itself
#   make deps-test     for `make check` and `make lint`
#   make deps-bench    the tools that `make bench` compares with
#   make deps-cross    for building for other architectures, and running there
#
# mk/packages is the table of packages and groups. A rule names its groups as
# order-only prerequisites, $(call packages,GROUP...), so that even `make
# $(O)/bench/replay` installs what it needs, and no more. All groups of the
# requested goals are installed in one run.

PACKAGES_TABLE := mk/packages
PACKAGES_TOOL := tests/tools/install-packages
PACKAGES_RUN = CC='$(strip $(CC) $(CPPFLAGS) $(LDFLAGS))' CXX='$(CXX)' ESBUILD='$(ESBUILD)' \
	$(PACKAGES_TOOL)

WANT_all := build
WANT_install := build
WANT_tarball := build tarball
WANT_demo := build demo
WANT_screenshots := build python ui pictures
WANT_check-unit := build python unit
WANT_check-asan := build python unit sanitize
WANT_hostile := build sanitize
WANT_test-programs := build c++ targets
WANT_check := build c++ unit sanitize targets python test ui tarball
WANT_check-faults := $(WANT_check)
WANT_lint := build python lint
WANT_lint-shell := lint
WANT_lint-tidy := build lint
WANT_coverage := build python unit coverage
WANT_deps-test := $(WANT_check) $(WANT_lint)
WANT_fuzz := build fuzz
WANT_bench := build c++ python bench
WANT_bench-peers := build c++ python peers
WANT_bench-ui := build python ui
WANT_soak := build python
WANT_check-programs := build c++ python unit
WANT_check-fresh := fresh
WANT_check-tarball := build tarball fresh
WANT_deps-cross := $(foreach a,aarch64 arm mips64el mips64,cross-$(a)) emulate

# Remembers installed groups until the table changes, also for builds in folders
# of other compilers.
PACKAGES_O ?= $(abspath $(O))/packages
export PACKAGES_O
# Another architecture has one group, for all goals.
groups = $(if $(CROSSED),cross-$(ARCH),$(1))
packages = $(addprefix $(PACKAGES_O)/,$(call groups,$(1)))

WANTED := $(sort $(call groups,$(foreach g,$(or $(MAKECMDGOALS),all),\
	$(WANT_$(g)))))
ifneq ($(WANTED),)
$(call packages,$(WANTED)) &: $(PACKAGES_TABLE) $(PACKAGES_TOOL)
	$(Q)mkdir -p $(PACKAGES_O) && $(PACKAGES_RUN) $(WANTED) && \
		touch $(call packages,$(WANTED))
endif
$(PACKAGES_O)/%: $(PACKAGES_TABLE) $(PACKAGES_TOOL)
	$(Q)mkdir -p $(PACKAGES_O) && $(PACKAGES_RUN) $* && touch $@

.PHONY: deps deps-bench deps-cross
deps:
	$(Q)$(PACKAGES_RUN) $(WANT_all)
deps-bench:
	$(Q)$(PACKAGES_RUN) $(WANT_bench)
deps-cross: sysroots sources
	$(Q)$(PACKAGES_RUN) $(WANT_deps-cross)
