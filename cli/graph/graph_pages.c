/*
 * graph_pages.c: what mk/page.mk made of cli/page/, in the command itself.
 */
#include "cli/graph/graph.h"

#include "cli/command/page.h"

PAGE_FILE(graph_page_html, "graph_html.html");
PAGE_FILE(graph_page_html_css, "graph_html.css");
PAGE_FILE(graph_page_html_js, "graph_html.js");
PAGE_FILE(graph_page_svg_css, "graph_svg.css");
