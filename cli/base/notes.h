/*
 * notes.h: collects messages for users. Code below the commands does not print:
 * it adds errors and hints here, in order. A command prints them at once
 * (log_notes), a server sends them, a dry run discards them.
 *
 * A note is one line, "what happened: what to do", lower case, without a full
 * stop.
 *
 * Several threads may add at once; only one may call the other functions. NULL
 * discards notes.
 */
#ifndef GNOMON_NOTES_H
#define GNOMON_NOTES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct note {
	bool error;		/* else a hint, which -q silences */
	char *text;
};

struct notes {
	pthread_mutex_t lock;
	/* Called at once with each note, by the thread that adds it; the note
	 * is not kept then. NULL: all notes are kept. */
	void (*heard)(const struct note *note);
	struct note *list;
	size_t count, capacity;
};

#define NOTES_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

void notes_init(struct notes *notes);
/* Removes all notes; the list can be used again. */
void notes_clear(struct notes *notes);
void notes_free(struct notes *notes);

/* Something failed. */
void notes_error(struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A hint. */
void notes_hint(struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
