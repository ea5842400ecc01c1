/*
 * index_build.h: makes the index of a trace: reads the trace once, from the
 * first byte to its current end. The calling thread reads and pairs events,
 * other threads compress.
 *
 * An index is made only of the bytes of the trace's file. If the trace is being
 * written, events in its live file are not in the index.
 */
#ifndef GNOMON_INDEX_BUILD_H
#define GNOMON_INDEX_BUILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct notes;
struct store;

struct index_build {
	const char *trace;
	int fd;			/* an empty file, for reading and writing */
	struct store *older;	/* index of a shorter trace, to be extended; or
				 * NULL. Set to NULL if it was unusable */
	bool goes_on;	/* `older` is a part (index_checkpoint.h) of the index
				 * in `fd`, which is not empty */
	const char *part;	/* where parts are kept while the index is made;
				 * NULL: none are kept. The last one remains
				 * there */
	uint64_t part_every;	/* see index_checkpoint_init */
	const atomic_bool *cancel;	/* checked for each chunk; or NULL */
	struct notes *notes;	/* if `older` was unusable; NULL: not
				 * reported */
	/* Results. */
	uint64_t rows, live, bytes, events;
	uint64_t paired;	/* events that were read and paired */
	uint64_t kept;		/* bytes of the trace that the remaining part
				 * covers, also after a failure; 0: there is no
				 * part */
};

/*
 * 0: the file is complete. -ECANCELED; -ENOSPC or another write error;
 * -EBADMSG: the trace cannot be read; -EBUSY: live file recovery failed, so the
 * last events are missing. Nothing is noted.
 */
int index_build(struct index_build *build);

#endif
