# Prerequisites of objects besides their sources: the makefiles with their
# rules, and the compiler and flags of the last build. $(call made-by,NAME) has
# the prerequisites for the output of mk/NAME.mk. The file among them is
# rewritten only when its contents change, so that an unchanged make does
# nothing.

.PHONY: FORCE
made-by = $(O)/flags/$(1) Makefile mk/$(1).mk

differ = $(subst x$(1)x,,x$(2)x)$(subst x$(2)x,,x$(1)x)
# GNU make 4.3 takes the end of the line off only where what it expands into has
# not been moved while it read.
remembered = $(if $(wildcard $(1)),$(strip $(file <$(1))))
quoted = '$(subst ','\'',$(1))'

# $(call remember,NAME,VARIABLES): the rule for that file. Call it after all
# additions to these variables.
define remember
FLAGS_$(1) := $$(strip $$(foreach v,$(2),$$(v)=$$($$(v))))
ifneq ($$(call differ,$$(FLAGS_$(1)),$$(call remembered,$(O)/flags/$(1))),)
$(O)/flags/$(1): FORCE
endif
$(O)/flags/$(1):
	$$(Q)mkdir -p $$(@D) && printf '%s\n' $$(call quoted,$$(FLAGS_$(1))) >$$@
endef
