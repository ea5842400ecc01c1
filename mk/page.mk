# Pages: TypeScript and styles of cli/page/ and cli/serve/page/, each bundled
# into one file, which cli/*/*_pages.c include in the command. esbuild is one
# program and needs no network; `make lint` checks types.
#
# The page of `gnomon serve` is made from cli/serve/page/ in the same way:
# cli/serve/static_files.c includes the files that SERVE_FILES names, and serves
# them by these names. A build without the page says that it has none.

PAGE_O := $(O)/page
PAGE_SRC := $(wildcard cli/page/*.ts cli/page/*.css)
PAGES := $(addprefix $(PAGE_O)/,flame_html.html flame_html.css flame_html.js \
	flame_svg.css flame_svg.js graph_html.html graph_html.css graph_html.js \
	graph_svg.css)
ESBUILD ?= esbuild
ESBUILD_FLAGS := --bundle --minify --charset=utf8 --log-level=warning

# Language features of Chromium, Firefox and Safari of 2020.
$(PAGE_O)/%.js: cli/page/%.ts $(PAGE_SRC) $(call made-by,page) \
		| $(call packages,build)
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(ESBUILD) $(ESBUILD_FLAGS) --target=es2020 --format=iife \
		--outfile=$@ $<
$(PAGE_O)/%.css: cli/page/%.css $(PAGE_SRC) $(call made-by,page) \
		| $(call packages,build)
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(ESBUILD) $(ESBUILD_FLAGS) --outfile=$@ $<
$(PAGE_O)/%.html: cli/page/%.html
	$(Q)mkdir -p $(@D) && cp $< $@

PAGES_OBJ := $(foreach p,flamegraph/flame_pages graph/graph_pages,\
	$(O)/host/cli/$p.o $(O)/checked/host/cli/$p.o $(O)/warned/cli/$p.c)
$(PAGES_OBJ): $(PAGES) mk/page.mk
$(PAGES_OBJ): HOST_CFLAGS += -DPAGE_FOLDER='"$(abspath $(PAGE_O))"'

# The page offers the queries of docs/SQL.md.
SERVE_SRC := $(wildcard cli/serve/page/*.* cli/serve/page/views/*) docs/SQL.md
SERVE_O := $(PAGE_O)/serve
SERVE_FILES := $(if $(wildcard cli/serve/page/*),serve.html serve.css serve.js)
SERVE_TABLE := $(O)/generated/static_files.def
$(SERVE_O)/%.js: cli/serve/page/%.ts $(SERVE_SRC) $(PAGE_SRC) \
		$(call made-by,page) | $(call packages,build)
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(ESBUILD) $(ESBUILD_FLAGS) --target=es2020 --format=iife --loader:.md=text \
		--outfile=$@ $<
$(SERVE_O)/%.css: cli/serve/page/%.css $(SERVE_SRC) $(PAGE_SRC) \
		$(call made-by,page) | $(call packages,build)
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(ESBUILD) $(ESBUILD_FLAGS) --outfile=$@ $<
$(SERVE_O)/%.html: cli/serve/page/%.html
	$(Q)mkdir -p $(@D) && cp $< $@
$(SERVE_TABLE): $(call made-by,page)
	$(Q)mkdir -p $(@D) && n=0 && for f in $(SERVE_FILES); do \
		echo "STATIC_FILE($$n, \"$$f\")"; n=$$((n + 1)); done >$@

STATIC_OBJ := $(foreach p,serve/static_files,\
	$(O)/host/cli/$p.o $(O)/checked/host/cli/$p.o $(O)/warned/cli/$p.c)
$(STATIC_OBJ): $(SERVE_TABLE) $(addprefix $(SERVE_O)/,$(SERVE_FILES))
$(STATIC_OBJ): HOST_CFLAGS += -DPAGE_FOLDER='"$(abspath $(SERVE_O))"'
