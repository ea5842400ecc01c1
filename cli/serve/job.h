/*
 * job.h: a running or waiting call, shared by the files that implement
 * job_queue.h. One thread, the front's.
 */
#ifndef GNOMON_JOB_H
#define GNOMON_JOB_H

#include "cli/serve/job_queue.h"

struct job {
	struct job *next;
	uint32_t number;
	uint64_t key;
	const struct route *route;
	struct served *trace;	/* whose reader runs it; NULL: several traces */
	struct buffer words, input;
	enum worker_coding coding;
	struct reader_process *reader;	/* NULL: waiting */
	int files[READER_FILES];
	bool on_disk;		/* output is a disk file, not memory */
	struct job_client *clients;
	uint64_t begun_ms;
	uint32_t slot;		/* in progress_board.h */
	uint64_t reported;		/* `done` in the last event sent */
};

#endif
