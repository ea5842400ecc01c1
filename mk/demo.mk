# make demo: builds gnomon, records a real program and prints its report.

DEMO_DEPS := sqlite3
DEMO_TRACE := $(O)/demo.trace

.PHONY: demo
demo: all
	$(Q)tests/tools/install-packages $(DEMO_DEPS)
	@echo
	@echo '$$ gnomon run -f -o $(DEMO_TRACE) sqlite3 :memory: ".read demo/demo.sql"'
	$(Q)$(CMD) run -f -o $(DEMO_TRACE) sqlite3 :memory: \
		'.read demo/demo.sql'
	@echo
	@echo '$$ gnomon report $(DEMO_TRACE)'
	$(Q)$(CMD) report $(DEMO_TRACE) --top 3
