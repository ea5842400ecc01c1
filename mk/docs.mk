# Manual pages and completion, made by the command from its option tables.

.PHONY: docs
docs: $(O)/man/gnomon.1
all: docs

$(O)/man/gnomon.1: $(CMD)
	$(call say,DOCS,$(@D))$(CMD) --make-docs $(O)
