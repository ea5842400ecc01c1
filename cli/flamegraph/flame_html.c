/*
 * flame_html.c: writes a flame graph as one page (cli/page/flame_html.*) with
 * all costs, which makes no network requests; or the page's data as JSON.
 * Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include "cli/base/status.h"
#include "cli/command/page.h"

/* A 4000th of a screen is half a point, which is invisible. */
#define SHARE (1.0 / 4000)
#define NODES_MAX 60000u
#define DEPTH_MAX 4000u

static const struct flame_limits limits = {
	.costs = (1u << FLAME_COSTS) - 1, .share = SHARE,
	.nodes = NODES_MAX, .depth = DEPTH_MAX,
};

struct filling {
	struct flame_export *flame;
	struct flame_tree tree;
};

static void put_title(void *owner, FILE *out)
{
	const struct filling *filling = owner;
	LOCAL_BUFFER title = { 0 };

	flame_title(&title, filling->flame);
	fputs(title.data, out);
}

static void put_data(void *owner, FILE *out)
{
	const struct filling *filling = owner;

	flame_data_write(filling->flame, &filling->tree, out);
}

static int write_html(struct export *export)
{
	static const struct page_part parts[] = {
		{ "title", .plain = put_title },
		{ "style", .text = flame_page_html_css },
		{ "data", .json = put_data },
		{ "script", .text = flame_page_html_js },
		{ 0 },
	};
	struct filling filling = { .flame = (struct flame_export *)export };

	flame_tree_build(&filling.tree, export->profile, &limits);
	page_write(flame_page_html, parts, &filling, export->out);
	flame_tree_free(&filling.tree);
	return EXIT_COMPLETE;
}

const struct exporter flame_html = {
	.name = "html",
	.what = "a flame graph as HTML",
	.wants_profile = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.wants_costs = true,
	.wants = MODEL_WANT_TIMELINE,
	.write = write_html,
};

static int write_json(struct export *export)
{
	struct flame_tree tree;

	flame_tree_build(&tree, export->profile, &limits);
	flame_data_write((struct flame_export *)export, &tree, export->out);
	putc('\n', export->out);
	flame_tree_free(&tree);
	return EXIT_COMPLETE;
}

const struct exporter flame_json = {
	.name = "json",
	.what = "the page's data",
	.wants_profile = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.wants_costs = true,
	.wants = MODEL_WANT_TIMELINE,
	.write = write_json,
};
