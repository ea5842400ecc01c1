/*
 * page.h: results that are pages for a browser: what mk/page.mk made of
 * cli/page/, filled in. Called by the main thread.
 */
#ifndef GNOMON_PAGE_H
#define GNOMON_PAGE_H

#include <stdio.h>

/* A file of PAGE_FOLDER, which comes from mk/page.mk, in the command itself,
 * taken in by the assembler; it ends with a NUL. */
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

/* What stands where a page says <!--gnomon:NAME-->. The functions get the
 * owner, and write to `out`. */
struct page_part {
	const char *name;
	const char *text;	/* as it is, or, where that is NULL, */
	void (*plain)(void *owner, FILE *out);	/* text, which is escaped, or */
	void (*json)(void *owner, FILE *out);	/* data in a script element */
};

/* `parts` end with a NULL name. */
void page_write(const char *page, const struct page_part *parts, void *owner,
		FILE *out);

#endif
