# make demo: builds gnomon, records two programs and prints their reports: a
# small one that is built here, with symbols, and the installed sqlite3, without
# symbols.

DEMO := $(O)/demo/concordance
DEMO_TEXTS := docs/*.md cli/*.c cli/*/*.c cli/*/*/*.c
DEMO_TRACE := $(O)/demo.trace
DEMO_SQL_TRACE := $(O)/demo-sqlite3.trace

$(DEMO): demo/concordance.c $(call made-by,demo) | $(call packages,build)
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g -o $@ $<

.PHONY: demo
demo: all $(DEMO) | $(call packages,demo)
	@echo
	@echo '$$ gnomon run -f -o $(DEMO_TRACE) $(DEMO) $(DEMO_TEXTS)'
	$(Q)$(CMD) run -f -o $(DEMO_TRACE) $(DEMO) $(DEMO_TEXTS)
	@echo
	@echo '$$ gnomon report $(DEMO_TRACE)'
	$(Q)$(CMD) report $(DEMO_TRACE)
	@echo
	@echo 'A program as it is installed, without debug symbols:'
	@echo
	@echo '$$ gnomon run -f -o $(DEMO_SQL_TRACE) sqlite3 :memory: ".read demo/demo.sql"'
	$(Q)$(CMD) run -f -o $(DEMO_SQL_TRACE) sqlite3 :memory: \
		'.read demo/demo.sql'
	@echo
	@echo '$$ gnomon report $(DEMO_SQL_TRACE) --by function --sort peak --top 2'
	$(Q)$(CMD) report $(DEMO_SQL_TRACE) --by function --sort peak --top 2

# Pictures of the page of `gnomon serve` for README.md and docs/, showing the
# trace of a compiler.
.PHONY: screenshots
screenshots: all $(TEST_O)/ui/.installed | $(call packages,$(WANT_screenshots))
	$(Q)GNOMON_BUILD=$(abspath $(O)) /usr/bin/python3 demo/screenshots.py \
		docs/images

# Pictures of `gnomon report` in a terminal, for five programs.
.PHONY: report-pictures
report-pictures: all | $(call packages,$(WANT_screenshots))
	$(Q)GNOMON_BUILD=$(abspath $(O)) /usr/bin/python3 \
		demo/report_pictures.py docs/images
