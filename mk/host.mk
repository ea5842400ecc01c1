# The command.

$(CMD): $(CLI_OBJ)
	$(call say,LD,$@)true
	$(Q)$(CC) -pie -o $@ $^ $(HOST_LIBS)

.PHONY: deps deps-checked
DEPS := gcc g++ make libzstd-dev libelf-dev libdw-dev libiberty-dev \
	libjansson-dev
deps:
	$(Q)tests/tools/install-packages $(DEPS)
# Cheap when all is there: one compiler run, remembered in $(O).
deps-checked: $(O)/.deps
$(O)/.deps:
	$(Q)mkdir -p $(O) && tests/tools/install-packages $(DEPS) && touch $@
