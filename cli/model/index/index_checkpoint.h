/*
 * index_checkpoint.h: the unfinished index, saved while it is made. If its
 * maker is killed, the next one resumes there.
 *
 *	TRACE.idx.new	the index: full chunks of ended blocks, as they come
 *	TRACE.idx.part	an index of its own, of all rows so far: a hole where
 *			full chunks are in .new; the other rows, with live ones;
 *			facts and the state (index_state.h)
 *
 * It is saved after a SYNC, as states are. Its key is that of the bytes up to
 * there, with INDEX_CHECKPOINT in the options, so that it cannot be mistaken
 * for the index of a shorter trace. It is written as TRACE.idx.part.new once
 * .new is on the disk, and then renamed. So whenever the maker dies, either the
 * previous part or this one exists, and .new has the missing chunks.
 *
 * One thread: the one that makes the index, which holds the lock of .new.
 */
#ifndef GNOMON_INDEX_CHECKPOINT_H
#define GNOMON_INDEX_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/store/store_write.h"

/* Option in its key. */
#define INDEX_CHECKPOINT 1

/* Events between two parts: they take some seconds to read again. With many
 * live blocks, this many events per live block: saving a block takes as long as
 * reading two or three events. */
#define INDEX_CHECKPOINT_EVENTS UINT64_C(16000000)
#define INDEX_CHECKPOINT_LIVE 128
/* Saving parts takes at most this fraction (1/n) of the time. */
#define INDEX_CHECKPOINT_SHARE 64

/* When to save parts, and where. Zeroed: never. */
struct index_checkpoint {
	const char *path;	/* of the part; NULL: none is saved */
	uint64_t every;		/* events between two; 0: the defaults */
	uint64_t events;	/* at the last one */
	uint64_t next_ns;	/* not before this time */
	uint64_t begun_ns;		/* begin of the one being saved */
	char *new_path;			/* and its file */
	int fd;
};

/* `events`: how many were read before, for the part from which this run
 * resumes. */
void index_checkpoint_init(struct index_checkpoint *parts, const char *path,
			   uint64_t every, uint64_t events);
/* Whether to save a part now, after this many events, with this many live
 * blocks. */
bool index_checkpoint_due(const struct index_checkpoint *parts, uint64_t events,
			  uint64_t live);
/*
 * Begins a part: a branch of the writer, whose file is `fd`. The caller adds
 * live rows, facts and the state. NULL: impossible; no more parts will be
 * saved.
 */
struct store_writer *index_checkpoint_begin(struct index_checkpoint *parts,
					    struct store_writer *writer, int fd,
					    unsigned packers);
/* Finishes it, and frees the branch; `key` is that of an index of the events
 * read. Returns whether it was saved; if not, the previous one remains, and no
 * more will be saved. */
bool index_checkpoint_end(struct index_checkpoint *parts,
			  struct store_writer *branch,
			  const struct store_key *key, uint64_t events);

#endif
