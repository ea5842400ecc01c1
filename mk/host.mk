# The command, and installing.

# The table of recording options is the recorder's own source.
HOST_SHARED_OBJ := $(call host-obj,preload/options.c)

$(CMD): $(CLI_OBJ) $(HOST_SHARED_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie -o $@ $^ -Wl,--as-needed $(HOST_LIBS)

.PHONY: deps deps-checked
DEPS := gcc g++ make libzstd-dev libelf-dev libdw-dev libiberty-dev liblzma-dev \
	libxxhash-dev libcapstone-dev libpcre2-dev nettle-dev
deps:
	$(Q)tests/tools/install-packages $(DEPS)
# Cheap when all is there: one compiler run, remembered in $(O).
deps-checked: $(O)/.deps
$(O)/.deps:
	$(Q)mkdir -p $(O) && tests/tools/install-packages $(DEPS) && touch $@

.PHONY: install
INSTALL_TO = $(DESTDIR)$(PREFIX)
install: all docs
	install -D -m 755 $(CMD) $(INSTALL_TO)/bin/gnomon
	install -D -m 755 $(LIB) $(INSTALL_TO)/lib/gnomon/libgnomon.so
	install -d $(INSTALL_TO)/share/man/man1
	install -m 644 $(O)/man/*.1 $(INSTALL_TO)/share/man/man1
	install -D -m 644 $(O)/completion/gnomon.bash \
		$(INSTALL_TO)/share/bash-completion/completions/gnomon
	install -D -m 644 $(O)/completion/_gnomon \
		$(INSTALL_TO)/share/zsh/site-functions/_gnomon
	install -D -m 644 $(O)/completion/gnomon.fish \
		$(INSTALL_TO)/share/fish/vendor_completions.d/gnomon.fish
