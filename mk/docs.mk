# Manual pages and completion, made by the command from its option tables.

.PHONY: docs
docs: $(O)/man/gnomon.1
ifndef CROSSED
all: docs
endif

$(O)/man/gnomon.1: $(CMD)
	$(call say,DOCS,$(@D))$(CMD) --make-docs $(O)
