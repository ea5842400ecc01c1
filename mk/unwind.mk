# The unwinder as a library of its own (docs/UNWIND.md).
#
#   libgnomon-unwind.a         one object; all symbols but the API are local, or
#                              hidden with a prefix of their own
#   libgnomon-unwind.so.X.Y.Z  exports exactly library/exports.map; needs no
#                              other library, so one serves glibc and musl
#   gnomon-unwind.pc           written at installation

UNWIND_ABI := 0
UNWIND_NAME := libgnomon-unwind
UNWIND_SONAME := $(UNWIND_NAME).so.$(UNWIND_ABI)
UNWIND_FILE := $(UNWIND_NAME).so.$(VERSION)
UNWIND_A := $(O)/$(UNWIND_NAME).a
UNWIND_SO := $(O)/$(UNWIND_FILE)
UNWIND_LINKS := $(O)/$(UNWIND_SONAME) $(O)/$(UNWIND_NAME).so
UNWIND_MAP := library/exports.map

# Without the hooks of the preload library and its code to start tasks.
UNWIND_LIB_OBJ := $(filter-out %/stubs.o %/clone.o %/hooks_raw.o \
	%/patching.o,$(ARCH_OBJ)) $(UNWIND_OBJ) \
	$(call target-obj,$(wildcard library/*.[cS]))

# Symbols outside the API become local, or, where hidden symbols have to stay
# global (arch/.../flags.mk), get unique names.
UNWIND_HIDE ?= $(OBJCOPY) --localize-hidden $(O)/$(UNWIND_NAME).o
UNWIND_NAMES := $(O)/$(UNWIND_NAME).names
UNWIND_RENAME = readelf -sW $(O)/$(UNWIND_NAME).o | awk \
	'$$6 == "HIDDEN" && $$5 != "LOCAL" && $$7 != "UND" { \
		print $$8, "gnomon_unwind_" $$8 }' >$(UNWIND_NAMES) && \
	$(OBJCOPY) --redefine-syms=$(UNWIND_NAMES) $(O)/$(UNWIND_NAME).o

all: unwind-library
.PHONY: unwind-library
unwind-library: $(UNWIND_A) $(UNWIND_SO) $(UNWIND_LINKS)

$(UNWIND_A): $(UNWIND_LIB_OBJ) $(call made-by,unwind)
	$(call say,AR,$@)rm -f $@
	$(Q)$(LD) -r -o $(O)/$(UNWIND_NAME).o $(filter %.o,$^)
	$(Q)$(UNWIND_HIDE)
	$(Q)$(AR) rcs $@ $(O)/$(UNWIND_NAME).o

# It cannot be unloaded: threads hold its state, and return addresses may point
# into it.
$(UNWIND_SO): $(UNWIND_LIB_OBJ) $(UNWIND_MAP) $(call made-by,unwind)
	$(call say,LD,$@)true
	$(Q)$(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete \
		-Wl,--version-script=$(UNWIND_MAP) -Wl,--build-id \
		-Wl,-soname,$(UNWIND_SONAME) -o $@ $(filter %.o,$^) $(TARGET_LIBS)

$(UNWIND_LINKS): $(UNWIND_SO)
	$(Q)ln -sf $(UNWIND_FILE) $@
