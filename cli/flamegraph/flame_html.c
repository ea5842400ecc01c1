/*
 * flame_html.c: a flame graph as one page (cli/page/flame_html.*) with all
 * costs in it, which asks the network for nothing. Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/status.h"
#include "cli/base/text/xml.h"

/* A 4000th of a screen is half a point: nobody sees it. */
#define SHARE (1.0 / 4000)
#define NODES_MAX 60000u
#define DEPTH_MAX 4000u

/* Where the page says what belongs there. */
static const char mark[] = "<!--gnomon:";

/* JSON in a script element: "</script>" and "<!--" must not be in it, and an
 * escaped < is the same string. */
static void put_data(const struct flame_export *flame,
		     const struct flame_tree *tree)
{
	char *json = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&json, &size);

	if (memory == NULL)
		return;
	flame_data_write(flame, tree, memory);
	if (fclose(memory) != 0)
		size = 0;
	for (size_t i = 0; i < size; i++) {
		if (json[i] == '<')
			fputs("\\u003c", flame->export.out);
		else
			putc(json[i], flame->export.out);
	}
	free(json);
}

static void put_title(const struct flame_export *flame)
{
	struct buffer title = { 0 }, text = { 0 };

	flame_title(&title, &flame->export);
	xml_text(&text, title.data);
	fputs(text.data, flame->export.out);
	buffer_free(&title);
	buffer_free(&text);
}

static void put_part(const struct flame_export *flame,
		     const struct flame_tree *tree, const char *name)
{
	FILE *out = flame->export.out;

	if (strncmp(name, "title", 5) == 0)
		put_title(flame);
	else if (strncmp(name, "style", 5) == 0)
		fputs(flame_page_html_css, out);
	else if (strncmp(name, "data", 4) == 0)
		put_data(flame, tree);
	else if (strncmp(name, "script", 6) == 0)
		fputs(flame_page_html_js, out);
}

static int write_html(struct export *export)
{
	const struct flame_export *flame = (struct flame_export *)export;
	const struct flame_limits limits = {
		.costs = (1u << FLAME_COSTS) - 1, .share = SHARE,
		.nodes = NODES_MAX, .depth = DEPTH_MAX };
	const char *at = flame_page_html;
	struct flame_tree tree;

	flame_tree_build(&tree, export->profile, &limits);
	for (const char *found; (found = strstr(at, mark)) != NULL;) {
		fwrite(at, 1, (size_t)(found - at), export->out);
		put_part(flame, &tree, found + strlen(mark));
		at = strstr(found, "-->");
		at = at ? at + strlen("-->") : found + strlen(found);
	}
	fputs(at, export->out);
	flame_tree_free(&tree);
	return EXIT_COMPLETE;
}

const struct exporter flame_html = {
	.name = "html",
	.what = "a flame graph as a page",
	.wants_profile = true,
	.wants_costs = true,
	.wants = MODEL_WANT_TIMELINE,
	.write = write_html,
};
