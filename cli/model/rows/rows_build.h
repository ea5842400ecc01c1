/*
 * rows_build.h: make a store of a trace: one reading, from its first byte to the
 * end that it has now. This thread reads and pairs, others pack.
 *
 * A store is made of the bytes of the trace's file and of nothing else: of a
 * trace that is being written, what is in its live file is not there.
 */
#ifndef GNOMON_ROWS_BUILD_H
#define GNOMON_ROWS_BUILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct notes;
struct store;

struct rows_build {
	const char *trace;
	int fd;			/* an empty file, for reading and writing */
	struct store *older;	/* of a shorter trace, to be extended; or NULL;
				 * NULL afterwards if it was of no use */
	bool goes_on;		/* `older` is a part (rows_part.h) of the store
				 * that is in the file, which is not empty */
	const char *part;	/* where parts are kept meanwhile; NULL: nowhere.
				 * The last one is left there */
	uint64_t part_every;	/* as rows_parts_init has it */
	const atomic_bool *cancel;	/* looked at for each chunk; or NULL */
	struct notes *notes;	/* that `older` was of no use; NULL: not told */
	/* What it came to. */
	uint64_t rows, live, bytes, events;
	uint64_t paired;	/* events that were read for it */
	uint64_t kept;		/* bytes of the trace that the part which is
				 * there goes to, also of one that failed; 0:
				 * there is none */
};

/*
 * 0: the file is whole. -ECANCELED; -ENOSPC or another error of writing;
 * -EBADMSG: the trace cannot be read; -EBUSY: its live file cannot be folded in,
 * so its last events are not in it. Nothing is noted.
 */
int rows_build(struct rows_build *build);

#endif
