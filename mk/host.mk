# The command, and installing.

# The table of recording options is the recorder's own source; the reader of
# ARM's unwind tables is the library's.
HOST_SHARED_OBJ := $(call host-obj,preload/base/options.c \
	preload/base/signal_list.c unwind/exidx.c)

# Messages of protocol buffers: C from each .proto of cli/.
PROTO_SRC := $(wildcard cli/*/*/*.proto)
PROTO_C := $(patsubst %.proto,$(O)/generated/%.pb-c.c,$(PROTO_SRC))
$(O)/generated/%.pb-c.c $(O)/generated/%.pb-c.h &: %.proto \
		| $(call packages,build)
	$(call say,PROTOC,$<)mkdir -p $(O)/generated
	$(Q)protoc-c --c_out=$(O)/generated $<
# Warnings about them are nobody's here to mend.
$(O)/host/%.pb-c.o: $(O)/generated/%.pb-c.c $(call made-by,host)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -w $(CFLAGS) $(HOST_CFLAGS) -c -o $@ $<
$(CLI_OBJ): | $(PROTO_C)
CLI_OBJ += $(patsubst %.proto,$(O)/host/%.pb-c.o,$(PROTO_SRC))

$(CMD): $(CLI_OBJ) $(HOST_SHARED_OBJ) $(call made-by,host)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie -o $@ $(filter %.o,$^) -Wl,--as-needed $(HOST_LIBS)

# What was built for another architecture goes beside the command's own parts,
# where `gnomon run` finds it; install-target puts it into a target's root, as it
# would be there.
.PHONY: install install-target install-library
INSTALL_TO = $(DESTDIR)$(PREFIX)
INSTALLS := $(if $(CROSSED),install-target,install \
	$(if $(ARCH_GIVEN),install-target))
$(INSTALLS): install-library
install-library: all
	install -D -m 755 $(LIB) $(INSTALL_TO)/lib/gnomon/libgnomon.so
	install -D -m 755 -t $(INSTALL_TO)/lib/gnomon $(RECORDER) \
		$(RECORDER_OTHER)
ifdef CROSSED
INSTALL_HERE = $(INSTALL_TO)/lib/gnomon/$(ARCH)
install: all $(O)/emulated/gnomon-recorder
	install -d $(INSTALL_HERE)/emulated/by
	install -m 755 $(LIB) $(LIB_OFF) $(RECORDER) $(INSTALL_HERE)
	install -m 755 $(EMULATED)/gnomon-recorder $(INSTALL_HERE)/emulated
	ln -sf "$$(readlink $(EMULATED)/by/gnomon-recorder)" \
		$(INSTALL_HERE)/emulated/by/gnomon-recorder
else
ifeq ($(ARCH_GIVEN),)
install-target:
	@echo 'install-target: for which architecture? Say it, and where the root' \
		'of the target is:' >&2; \
	echo '    make ARCH=$(firstword $(ARCH_PORTS)) DESTDIR=/srv/root $@' >&2; \
	echo 'ARCH: $(NATIVE) $(filter-out $(NATIVE),$(ARCH_PORTS))' >&2; exit 1
endif
install: all docs
	install -D -m 755 $(CMD) $(INSTALL_TO)/bin/gnomon
	install -d $(INSTALL_TO)/share/man/man1
	install -m 644 $(O)/man/*.1 $(INSTALL_TO)/share/man/man1
	install -D -m 644 $(O)/completion/gnomon.bash \
		$(INSTALL_TO)/share/bash-completion/completions/gnomon
	install -D -m 644 $(O)/completion/_gnomon \
		$(INSTALL_TO)/share/zsh/site-functions/_gnomon
	install -D -m 644 $(O)/completion/gnomon.fish \
		$(INSTALL_TO)/share/fish/vendor_completions.d/gnomon.fish
endif
