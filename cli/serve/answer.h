/*
 * answer.h: the HTTP answer to a call: status, body and messages. Good answers
 * are cached, up to a limit of bytes, for clients that repeat the call. One
 * thread.
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
	int fd;			/* the body; -1: empty */
	uint64_t size;		/* of the body */
	bool on_disk;		/* the body is a disk file, not memory */
	enum worker_coding coding;
	char *messages;		/* a JSON array, all ASCII; NULL: none */
	const char *type;	/* of the body; static */
	/* Other headers; answer_drop frees them; NULL: none. */
	char *location, *cookie;
	const char *allow;	/* methods, for a 405; static */
	uint64_t key;		/* hash of the call: its ETag */
	struct answer *next;	/* in the cache, newest first */
};

/* Starts with one user. Takes ownership of `fd`. */
struct answer *answer_new(unsigned status, const char *type, int fd,
			  uint64_t size, bool on_disk);
/* With a copy of a text as its body; an empty 503 if it cannot be copied. */
struct answer *answer_text(unsigned status, const char *type,
			   const char *text, size_t size);
/* {"error": "…"} from lines of standard error, `said`. */
struct answer *answer_error(unsigned status, const char *said);
/* Bytes of all bodies in memory. */
uint64_t answer_bytes(void);
struct answer *answer_take(struct answer *answer);
void answer_drop(struct answer *answer);

/* Lines of standard error as a JSON array of ASCII, without "gnomon: ", cut to
 * `size_max` bytes. The caller frees it; NULL: no lines. */
char *answer_messages(const char *said, size_t size_max);

/* Cached answers; each holds a descriptor. */
#define ANSWER_CACHE_MAX 256

struct answer_cache {
	struct answer *newest;
	uint64_t bytes, bytes_max;
	unsigned count;
};

/* The answer to this call, with one more user; or NULL. */
struct answer *answer_cache_find(struct answer_cache *cache, uint64_t key);
void answer_cache_keep(struct answer_cache *cache, struct answer *answer);
void answer_cache_clear(struct answer_cache *cache);

#endif
