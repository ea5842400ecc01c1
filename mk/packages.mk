# What has to be installed, by what is made, before anything is.
#
#   make deps          what building needs; nothing else ever needs it typed
#   make deps-test     what `make check` and `make lint` need
#   make deps-bench    what `make bench` compares with
#
# mk/packages is the table of what belongs to which group. A rule names its
# groups as order-only prerequisites, $(call packages,GROUP...), so that even
# `make $(O)/bench/replay` has what it needs, and no more. All groups of the
# goals that are listed here are seen to in one go.

PACKAGES_TABLE := mk/packages
PACKAGES_TOOL := tests/tools/install-packages
PACKAGES_RUN = CC='$(CC)' CXX='$(CXX)' ESBUILD='$(ESBUILD)' \
	$(PACKAGES_TOOL)

WANT_all := build
WANT_install := build
WANT_demo := build demo
WANT_check-unit := build python unit
WANT_check-asan := build python unit sanitize
WANT_hostile := build sanitize
WANT_test-programs := build c++ targets
WANT_check := build c++ unit sanitize targets python test ui
WANT_check-faults := $(WANT_check)
WANT_lint := build python lint
WANT_deps-test := $(WANT_check) $(WANT_lint)
WANT_fuzz := build fuzz
WANT_bench := build c++ python bench
WANT_soak := build python
WANT_check-programs := build c++ python
WANT_check-fresh := fresh

# What is there is remembered, also for what is built into folders of other
# compilers, until the table changes.
PACKAGES_O ?= $(abspath $(O))/packages
export PACKAGES_O
packages = $(addprefix $(PACKAGES_O)/,$(1))

WANTED := $(sort $(foreach g,$(or $(MAKECMDGOALS),all),$(WANT_$(g))))
ifneq ($(WANTED),)
$(call packages,$(WANTED)) &: $(PACKAGES_TABLE) $(PACKAGES_TOOL)
	$(Q)mkdir -p $(PACKAGES_O) && $(PACKAGES_RUN) $(WANTED) && \
		touch $(call packages,$(WANTED))
endif
$(PACKAGES_O)/%: $(PACKAGES_TABLE) $(PACKAGES_TOOL)
	$(Q)mkdir -p $(PACKAGES_O) && $(PACKAGES_RUN) $* && touch $@

.PHONY: deps deps-bench
deps:
	$(Q)$(PACKAGES_RUN) $(WANT_all)
deps-bench:
	$(Q)$(PACKAGES_RUN) $(WANT_bench)
