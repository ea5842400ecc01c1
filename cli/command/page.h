/*
 * page.h: writes results as pages for a browser: fills in the templates that
 * mk/page.mk made of cli/page/. Called by the main thread.
 */
#ifndef GNOMON_PAGE_H
#define GNOMON_PAGE_H

#include <stdio.h>

/* Embeds a file of PAGE_FOLDER (made by mk/page.mk) in the command by the
 * assembler, with a NUL at its end. */
#define PAGE_FILE(name, file)						\
	__asm__(".pushsection .rodata\n"				\
		".globl " #name "\n"					\
		".hidden " #name "\n"					\
		".type " #name ", STT_OBJECT\n"				\
		#name ":\n"						\
		".incbin \"" PAGE_FOLDER "/" file "\"\n"		\
		".byte 0\n"						\
		".size " #name ", . - " #name "\n"			\
		".popsection\n")

/* The replacement of <!--gnomon:NAME--> in a page. The functions get the owner
 * and write to `out`. */
struct page_part {
	const char *name;
	const char *text;	/* copied as it is; if NULL, */
	void (*plain)(void *owner, FILE *out);	/* text to escape; if NULL, */
	void (*json)(void *owner, FILE *out);	/* data in a script element */
};

/* `parts` end with a NULL name. */
void page_write(const char *page, const struct page_part *parts, void *owner,
		FILE *out);

#endif
