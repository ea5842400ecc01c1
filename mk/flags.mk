# What objects are made by, besides their sources: the makefiles that say how,
# and the compiler and flags of the last time. $(call made-by,NAME) are the
# prerequisites of what mk/NAME.mk makes; the file among them is written anew
# only when what is in it changes, so that an unchanged make does nothing.

.PHONY: FORCE
made-by = $(O)/flags/$(1) Makefile mk/$(1).mk

differ = $(subst x$(1)x,,x$(2)x)$(subst x$(2)x,,x$(1)x)
# GNU make 4.3 takes the end of the line off only where what it expands into has
# not been moved while it read.
remembered = $(if $(wildcard $(1)),$(strip $(file <$(1))))
quoted = '$(subst ','\'',$(1))'

# $(call remember,NAME,VARIABLES): the rule for that file, behind all that
# adds to these variables.
define remember
FLAGS_$(1) := $$(strip $$(foreach v,$(2),$$(v)=$$($$(v))))
ifneq ($$(call differ,$$(FLAGS_$(1)),$$(call remembered,$(O)/flags/$(1))),)
$(O)/flags/$(1): FORCE
endif
$(O)/flags/$(1):
	$$(Q)mkdir -p $$(@D) && printf '%s\n' $$(call quoted,$$(FLAGS_$(1))) >$$@
endef
