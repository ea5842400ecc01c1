/*
 * answer.h: what a call came to, as it is sent: a status of HTTP, a body, and what
 * was said. Those that were good are kept for whoever asks the same again, in so
 * many bytes. One thread.
 */
#ifndef GNOMON_ANSWER_H
#define GNOMON_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/serve/worker.h"

struct answer {
	unsigned users;		/* answer_take, answer_drop */
	unsigned status;	/* of HTTP */
	int fd;			/* the body; -1: it is empty */
	uint64_t size;		/* of the body */
	bool on_disk;		/* it takes no memory */
	enum worker_coding coding;
	char *messages;		/* a JSON array, all ASCII; NULL: none */
	const char *type;	/* of the body; static */
	/* Other headers, to be freed; NULL: there is none. */
	char *location, *cookie;
	const char *allow;	/* methods, of a 405; static */
	uint64_t key;		/* of the call: its ETag */
	struct answer *next;	/* of those that are kept; newest first */
};

/* One user has it. Takes over `fd`. */
struct answer *answer_new(unsigned status, const char *type, int fd,
			  uint64_t size, bool on_disk);
/* With a text as its body, which is copied; where that cannot be, an empty 503. */
struct answer *answer_text(unsigned status, const char *type,
			   const char *text, size_t size);
/* {"error": "…"}; `said` are lines of standard error. */
struct answer *answer_error(unsigned status, const char *said);
/* Of all bodies that are in memory. */
uint64_t answer_bytes(void);
struct answer *answer_take(struct answer *answer);
void answer_drop(struct answer *answer);

/* Lines of standard error as a JSON array of ASCII, without "gnomon: "; at most
 * so many bytes. To be freed; NULL: there is none. */
char *answer_messages(const char *said, size_t size_max);

/* Each takes a descriptor. */
#define ANSWER_CACHE_MAX 256

struct answer_cache {
	struct answer *newest;
	uint64_t bytes, bytes_max;
	unsigned count;
};

/* Of this call; or NULL. One user more has it. */
struct answer *answer_cache_find(struct answer_cache *cache, uint64_t key);
void answer_cache_keep(struct answer_cache *cache, struct answer *answer);
void answer_cache_clear(struct answer_cache *cache);

#endif
