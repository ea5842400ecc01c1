/* notes.c: see the header. */
#include "cli/base/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/grow.h"

#define LINE_MAX_BYTES 8192	/* two paths and a sentence */

void notes_init(struct notes *notes)
{
	*notes = (struct notes)NOTES_INIT;
}

void notes_clear(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->list[i].text);
	notes->count = 0;
}

void notes_free(struct notes *notes)
{
	notes_clear(notes);
	free(notes->list);
	pthread_mutex_destroy(&notes->lock);
	notes_init(notes);
}

static void add(struct notes *notes, bool error, const char *format,
		va_list args)
{
	char line[LINE_MAX_BYTES];
	int size = vsnprintf(line, sizeof(line), format, args);

	if (size < 0)
		return;
	if ((size_t)size >= sizeof(line))
		size = sizeof(line) - 1;
	pthread_mutex_lock(&notes->lock);
	if (notes->heard != NULL) {
		notes->heard(&(struct note){ error, line });
		pthread_mutex_unlock(&notes->lock);
		return;
	}
	GROW(notes->list, notes->count, notes->capacity);
	notes->list[notes->count++] = (struct note){
		error, grow_copy(line, (size_t)size)
	};
	pthread_mutex_unlock(&notes->lock);
}

void notes_error(struct notes *notes, const char *format, ...)
{
	va_list args;

	if (notes == NULL)
		return;
	va_start(args, format);
	add(notes, true, format, args);
	va_end(args);
}

void notes_hint(struct notes *notes, const char *format, ...)
{
	va_list args;

	if (notes == NULL)
		return;
	va_start(args, format);
	add(notes, false, format, args);
	va_end(args);
}
