/*
 * graph_pages.c: embeds what mk/page.mk makes of cli/page/.
 */
#include "cli/graph/graph.h"

#include "cli/command/page.h"

PAGE_FILE(graph_page_html, "graph_html.html");
PAGE_FILE(graph_page_html_css, "graph_html.css");
PAGE_FILE(graph_page_html_js, "graph_html.js");
PAGE_FILE(graph_page_svg_css, "graph_svg.css");
