/*
 * notes.h: what is to be said to people, kept until somebody says it. Below
 * the commands nothing prints: who reads, looks up or writes puts here what
 * was wrong (errors) or is good to know (hints), in order. A command has it
 * printed at once (tell_notes), a server sends it, a look in advance throws it
 * away.
 *
 * A note is one line, "what happened: what to do", lower case, without a full
 * stop.
 *
 * Several threads may add at once; all else is one thread's. NULL stands for
 * notes that nobody wants.
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
	/* Who hears of each at once, by the thread that adds it; it is not kept
	 * then. NULL: all are kept. */
	void (*heard)(const struct note *note);
	struct note *list;
	size_t count, capacity;
};

#define NOTES_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

void notes_init(struct notes *notes);
/* None are there then; they may be used again. */
void notes_clear(struct notes *notes);
void notes_free(struct notes *notes);

/* Something failed. */
void notes_error(struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Good to know. */
void notes_hint(struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
