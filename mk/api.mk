# Libraries for programs that use the API (docs/API.md).
#
#   libgnomon-stub.so.0   the API as functions that do nothing, unless
#                         libgnomon.so is preloaded
#   libgnomon-stub.a      the same, to be linked into a program or plugin
#   libgnomon-off.so      libgnomon.so that records nothing before gnomon_start
#   gnomon.pc             written at installation

STUB_ABI := 0
STUB_NAME := libgnomon-stub
STUB_SONAME := $(STUB_NAME).so.$(STUB_ABI)
STUB_FILE := $(STUB_NAME).so.$(VERSION)
STUB_A := $(O)/$(STUB_NAME).a
STUB_SO := $(O)/$(STUB_FILE)
STUB_LINKS := $(O)/$(STUB_SONAME) $(O)/$(STUB_NAME).so
STUB_OBJ := $(O)/stub/stub.o $(O)/stub/stub_numbers.o
STUB_A_OBJ := $(STUB_OBJ:.o=.hidden.o)
LIB_OFF := $(O)/libgnomon-off.so

all: api
.PHONY: api
api: $(STUB_A) $(STUB_SO) $(STUB_LINKS) $(LIB_OFF)

# I1 of stub.h: -O2 jumps, -fPIC keeps the weak reference.
$(O)/stub/%.o: stub/%.c $(call made-by,api) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -O2 -fPIC -fno-stack-protector -fno-lto \
		-c -o $@ $<

# A program that contains a stub does not export it.
$(O)/stub/%.hidden.o: stub/%.c $(call made-by,api) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) -O2 -fPIC -fno-stack-protector -fno-lto \
		'-DGNOMON_API=__attribute__((visibility("hidden")))' \
		-c -o $@ $<

$(STUB_A): $(STUB_A_OBJ)
	$(call say,AR,$@)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(STUB_SO): $(STUB_OBJ) stub/exports.map $(call made-by,api)
	$(call say,LD,$@)true
	$(Q)$(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,now -Wl,-z,relro \
		-Wl,--version-script=stub/exports.map -Wl,--build-id \
		-Wl,-soname,$(STUB_SONAME) -o $@ $(STUB_OBJ)

$(STUB_LINKS): $(STUB_SO)
	$(Q)ln -sf $(STUB_FILE) $@

# It differs in one constant.
OFF_OBJ := $(O)/target/preload/base/variant_off.o
$(OFF_OBJ): preload/base/variant.c $(call made-by,api) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(TARGET_CFLAGS) -DVARIANT_OFF \
		-c -o $@ $<
$(LIB_OFF): $(ARCH_OBJ) $(UNWIND_OBJ) \
		$(filter-out %/variant.o,$(PRELOAD_OBJ)) $(OFF_OBJ) \
		$(LIB_MAP)
	$(call say,LD,$@)true
	$(Q)$(LIB_LINK) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^) $(TARGET_LIBS)
