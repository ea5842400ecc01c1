/*
 * work_job.h: a call that runs or waits, for the files that make up work.h. One
 * thread, the front's.
 */
#ifndef GNOMON_WORK_JOB_H
#define GNOMON_WORK_JOB_H

#include "cli/serve/work.h"

struct job {
	struct job *next;
	uint32_t number;
	uint64_t key;
	const struct route *route;
	struct served *trace;	/* whose reader runs it; NULL: of several */
	struct buffer words, input;
	enum worker_coding coding;
	struct work_reader *reader;	/* NULL: it waits */
	int files[READER_FILES];
	bool on_disk;		/* its output is, not in memory */
	struct work_client *clients;
	uint64_t begun_ms;
	uint32_t slot;		/* of the progress board */
	uint64_t told;		/* `done` of the last event */
};

#endif
