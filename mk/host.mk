# The command.

# The table of recording options is the recorder's source file; the reader of
# ARM's unwind tables is the library's.
HOST_SHARED_OBJ := $(call host-obj,preload/base/options.c \
	preload/base/signal_list.c unwind/rules/exidx.c)

# Messages of protocol buffers: C from each .proto of cli/.
PROTO_SRC := $(wildcard cli/*/*/*.proto)
PROTO_C := $(patsubst %.proto,$(O)/generated/%.pb-c.c,$(PROTO_SRC))
$(O)/generated/%.pb-c.c $(O)/generated/%.pb-c.h &: %.proto \
		| $(call packages,build)
	$(call say,PROTOC,$<)mkdir -p $(O)/generated
	$(Q)protoc-c --c_out=$(O)/generated $<
# Warnings about generated files cannot be fixed here.
$(O)/host/%.pb-c.o: $(O)/generated/%.pb-c.c $(call made-by,host)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -w $(CPPFLAGS) $(CFLAGS) $(HOST_CFLAGS) -c -o $@ $<
$(CLI_OBJ): | $(PROTO_C)
CLI_OBJ += $(patsubst %.proto,$(O)/host/%.pb-c.o,$(PROTO_SRC))

$(CMD): $(CLI_OBJ) $(HOST_SHARED_OBJ) $(call made-by,host)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--as-needed $(HOST_LIBS)
