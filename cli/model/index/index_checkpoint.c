/*
 * index_checkpoint.c: see index_checkpoint.h. If a part cannot be written,
 * usually for lack of space, nothing else fails: the index may still be
 * finished.
 */
#include "cli/model/index/index_checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

void index_checkpoint_init(struct index_checkpoint *parts, const char *path,
			   uint64_t every, uint64_t events)
{
	*parts = (struct index_checkpoint){
		.path = path, .every = every, .events = events,
	};
}

bool index_checkpoint_due(const struct index_checkpoint *parts, uint64_t events,
			  uint64_t live)
{
	uint64_t since = events - parts->events;

	/* a state may be from before the events that were read */
	if (parts->path == NULL || events < parts->events)
		return false;
	if (parts->every != 0)
		return since >= parts->every;
	return since >= INDEX_CHECKPOINT_EVENTS &&
	       since / INDEX_CHECKPOINT_LIVE >= live &&
	       (parts->next_ns == 0 || now_ns() >= parts->next_ns);
}

static void stop(struct index_checkpoint *parts)
{
	unlink(parts->new_path);
	free(parts->new_path);
	parts->new_path = NULL;
	parts->path = NULL;
}

struct store_writer *index_checkpoint_begin(struct index_checkpoint *parts,
					    struct store_writer *writer, int fd,
					    unsigned packers)
{
	struct store_writer *branch;

	ASSERT(parts->path != NULL && parts->new_path == NULL);
	parts->begun_ns = now_ns();
	parts->new_path = grow_format("%s.new", parts->path);
	unlink(parts->new_path);	/* from a maker that was killed */
	parts->fd = open(parts->new_path, O_RDWR | O_CREAT | O_EXCL |
			 O_CLOEXEC | O_NOFOLLOW, 0600);
	if (parts->fd < 0) {
		stop(parts);
		return NULL;
	}
	branch = store_writer_branch(writer, parts->fd, packers);
	/* the full chunks, which the part lacks, have to be on the disk first:
	 * all were written by now */
	if (store_writer_error(writer) == 0 && fdatasync(fd) == 0)
		return branch;
	store_writer_free(branch);
	close(parts->fd);
	stop(parts);
	return NULL;
}

bool index_checkpoint_end(struct index_checkpoint *parts,
			  struct store_writer *branch,
			  const struct store_key *key, uint64_t events)
{
	struct store_key own = *key;
	uint64_t ended_ns;
	int error;

	ASSERT(parts->new_path != NULL);
	own.options |= INDEX_CHECKPOINT;
	error = store_writer_finish(branch, &own);
	store_writer_free(branch);
	close(parts->fd);	/* it was synced */
	if (error != 0 || rename(parts->new_path, parts->path) != 0) {
		stop(parts);
		return false;
	}
	free(parts->new_path);
	parts->new_path = NULL;
	parts->events = events;
	ended_ns = now_ns();
	parts->next_ns = ended_ns + INDEX_CHECKPOINT_SHARE *
		(ended_ns - parts->begun_ns);
	return true;
}
