/*
 * graph_html.c: writes a graph as one page (cli/page/graph_html.*), which makes
 * no network requests. Called by the main thread.
 */
#include "cli/command/page.h"
#include "cli/graph/graph.h"

static void put_title(void *owner, FILE *out)
{
	const struct graph *graph = *(const struct graph **)owner;

	fputs(graph->title.data, out);
}

static void put_data(void *owner, FILE *out)
{
	graph_json(*(const struct graph **)owner, out);
}

void graph_html(const struct graph *graph, FILE *out)
{
	static const struct page_part parts[] = {
		{ "title", .plain = put_title },
		{ "style", .text = graph_page_html_css },
		{ "data", .json = put_data },
		{ "script", .text = graph_page_html_js },
		{ 0 },
	};

	page_write(graph_page_html, parts, &graph, out);
}
