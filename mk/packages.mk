# What has to be installed, by what is made, before anything is.
#
#   make deps          what building needs; nothing else ever needs it typed
#   make deps-test     what `make check` and `make lint` need
#   make deps-bench    what `make bench` compares with
#   make deps-cross    what building for and running on other architectures need
#
# mk/packages is the table of what belongs to which group. A rule names its
# groups as order-only prerequisites, $(call packages,GROUP...), so that even
# `make $(O)/bench/replay` has what it needs, and no more. All groups of the
# goals that are listed here are seen to in one go.

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
WANT_bench-ui := build python ui
WANT_soak := build python
WANT_check-programs := build c++ python unit
WANT_check-fresh := fresh
WANT_check-tarball := build tarball fresh
WANT_deps-cross := $(foreach a,aarch64 arm mips64el mips64,cross-$(a)) emulate

# What is there is remembered, also for what is built into folders of other
# compilers, until the table changes.
PACKAGES_O ?= $(abspath $(O))/packages
export PACKAGES_O
# For another architecture there is one group, whatever is made.
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
