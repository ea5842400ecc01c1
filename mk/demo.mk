# make demo: builds gnomon, records a real program and prints its report.

DEMO_TRACE := $(O)/demo.trace

.PHONY: demo
demo: all | $(call packages,demo)
	@echo
	@echo '$$ gnomon run -f -o $(DEMO_TRACE) sqlite3 :memory: ".read demo/demo.sql"'
	$(Q)$(CMD) run -f -o $(DEMO_TRACE) sqlite3 :memory: \
		'.read demo/demo.sql'
	@echo
	@echo '$$ gnomon report $(DEMO_TRACE)'
	$(Q)$(CMD) report $(DEMO_TRACE) --top 3
