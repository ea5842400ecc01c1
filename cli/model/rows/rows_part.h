/*
 * rows_part.h: what there is of a store while it is made, kept for the case that
 * its maker is killed: the next one goes on from there.
 *
 *	TRACE.idx.new	the store: full chunks of blocks that ended, as they come
 *	TRACE.idx.part	a store of its own, of all rows so far: a hole where full
 *			chunks are in .new; the rest of the rows, and live ones;
 *			facts and the state (rows_state.h)
 *
 * It is taken behind a SYNC, as states are, and has the key of the bytes up to
 * there, with ROWS_PART in its options: so it is not taken for a store of a shorter
 * trace. It is written as TRACE.idx.part.new when .new is on the disk, and renamed:
 * whenever its maker dies, there is the part before or this one, and .new has
 * what it lacks.
 *
 * One thread: the one that makes the store, which has the lock of .new.
 */
#ifndef GNOMON_ROWS_PART_H
#define GNOMON_ROWS_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/store/store_write.h"

/* In the options of its key. */
#define ROWS_PART 1

/* So many events, which take some seconds, are read again as well; and so many
 * for each live block: to keep one takes as long as to read two or three. */
#define ROWS_PART_EVENTS UINT64_C(16000000)
#define ROWS_PART_LIVE 128
/* Parts take no more than this part of the time. */
#define ROWS_PART_SHARE 64

/* When parts are taken, and where to. Zeroed: never. */
struct rows_parts {
	const char *path;	/* of the part; NULL: none is taken */
	uint64_t every;		/* events between two; 0: as above */
	uint64_t events;	/* at the last one */
	uint64_t next_ns;	/* not before */
	uint64_t begun_ns;		/* one that is taken now */
	char *new_path;			/* and its file */
	int fd;
};

/* `events`: that were read before, for the part from which this making goes
 * on. */
void rows_parts_init(struct rows_parts *parts, const char *path,
		     uint64_t every, uint64_t events);
/* Whether one is to be taken, so many events being read, and so many blocks
 * live. */
bool rows_parts_due(const struct rows_parts *parts, uint64_t events,
		    uint64_t live);
/*
 * Begin one: a branch of the writer, whose file is `fd`; to be given live rows, facts
 * and the state. NULL: it cannot be, and no other one will be taken.
 */
struct store_writer *rows_parts_begin(struct rows_parts *parts,
				      struct store_writer *writer, int fd,
				      unsigned packers);
/* Finish it, and free the branch; `key` is that of a store of what was read. Whether
 * it is there; if not, the one before is, and no other one will be taken. */
bool rows_parts_end(struct rows_parts *parts, struct store_writer *branch,
		    const struct store_key *key, uint64_t events);

#endif
