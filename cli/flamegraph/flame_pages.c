/*
 * flame_pages.c: what mk/page.mk made of cli/page/, in the command itself:
 * bytes of files, taken in by the assembler. PAGE_FOLDER comes from there.
 */
#include "cli/flamegraph/flame.h"

#define PAGE(name, file)						\
	__asm__(".pushsection .rodata\n"				\
		".globl " #name "\n"					\
		".hidden " #name "\n"					\
		".type " #name ", STT_OBJECT\n"				\
		#name ":\n"						\
		".incbin \"" PAGE_FOLDER "/" file "\"\n"		\
		".byte 0\n"						\
		".size " #name ", . - " #name "\n"			\
		".popsection\n")

PAGE(flame_page_html, "flame_html.html");
PAGE(flame_page_html_css, "flame_html.css");
PAGE(flame_page_html_js, "flame_html.js");
PAGE(flame_page_svg_css, "flame_svg.css");
PAGE(flame_page_svg_js, "flame_svg.js");
