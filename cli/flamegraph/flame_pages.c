/*
 * flame_pages.c: embeds what mk/page.mk makes of cli/page/.
 */
#include "cli/flamegraph/flame.h"

#include "cli/command/page.h"

PAGE_FILE(flame_page_html, "flame_html.html");
PAGE_FILE(flame_page_html_css, "flame_html.css");
PAGE_FILE(flame_page_html_js, "flame_html.js");
PAGE_FILE(flame_page_svg_css, "flame_svg.css");
PAGE_FILE(flame_page_svg_js, "flame_svg.js");
