/*
 * page.c: see page.h.
 */
#include "cli/command/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/text/xml.h"

static const char mark[] = "<!--gnomon:";

/* The text that a function writes; to be freed. NULL: out of memory. */
static char *written(void (*write)(void *owner, FILE *out), void *owner,
		     size_t *size)
{
	char *text = NULL;
	FILE *memory = open_memstream(&text, size);

	if (memory == NULL)
		return NULL;
	write(owner, memory);
	if (fclose(memory) == 0)
		return text;
	free(text);
	return NULL;
}

/* JSON in a script element must not contain "</script>" or "<!--"; an escaped <
 * is the same string. */
static void put_json(const struct page_part *part, void *owner, FILE *out)
{
	size_t size = 0;
	char *json = written(part->json, owner, &size);

	for (size_t i = 0; json != NULL && i < size; i++) {
		if (json[i] == '<')
			fputs("\\u003c", out);
		else
			putc(json[i], out);
	}
	free(json);
}

static void put_plain(const struct page_part *part, void *owner, FILE *out)
{
	size_t size = 0;
	char *plain = written(part->plain, owner, &size);
	LOCAL_BUFFER text = { 0 };

	if (plain != NULL && size > 0) {
		xml_text(&text, plain);
		fputs(text.data, out);
	}
	free(plain);
}

static void put_part(const struct page_part *parts, const char *at,
		     size_t size, void *owner, FILE *out)
{
	const struct page_part *part = parts;

	while (part->name != NULL && (strlen(part->name) != size ||
				      memcmp(part->name, at, size) != 0))
		part++;
	if (part->name == NULL)
		return;
	if (part->text != NULL)
		fputs(part->text, out);
	else if (part->plain != NULL)
		put_plain(part, owner, out);
	else
		put_json(part, owner, out);
}

void page_write(const char *page, const struct page_part *parts, void *owner,
		FILE *out)
{
	for (const char *found; (found = strstr(page, mark)) != NULL;) {
		const char *name = found + strlen(mark);
		const char *end = strstr(name, "-->");

		fwrite(page, 1, (size_t)(found - page), out);
		if (end == NULL)
			return;
		put_part(parts, name, (size_t)(end - name), owner, out);
		page = end + strlen("-->");
	}
	fputs(page, out);
}
