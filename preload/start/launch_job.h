/*
 * launch_job.h: steps of starting a recorder (launch.c), shared by its files.
 * Called by the thread that starts it, with all signals blocked, or by a task
 * or child of that thread: system calls only (I1 of launch.c).
 */
#ifndef GNOMON_LAUNCH_JOB_H
#define GNOMON_LAUNCH_JOB_H

#include "preload/ring/producer.h"
#include "preload/start/live_make.h"

#define LAUNCH_FILES 32	/* descriptors that a recorder does not need */
#define LAUNCH_STACK (32u << 10)
#define LAUNCH_NUMBERS 4
#define LAUNCH_WORDS (LAUNCH_NUMBERS + 4)

/* State of a start. In the area. */
struct launch {
	struct producer *p;
	struct live_made made;
	struct live_where where;
	int output;		/* descriptor that the recorder writes to; -1 */
	uint64_t files;		/* limit of the recorder's descriptors */
	int32_t file[GL_FILES];
	int err;
	int32_t parent;		/* the process's, not the helper's */
	uint32_t blocks_users;	/* enum blocks_user */
	bool quiet;		/* print nothing */
	bool alone;		/* without a helper */
	char *stack;
	char number[LAUNCH_NUMBERS][16];
	char parent_trace[GT_PATH_MAX];
	char *argv[LAUNCH_WORDS + 1];
};

/* The recorder's program. Constant after launch_environment (I2). */
extern char launch_program[GT_PATH_MAX];

/* Builds the recorder's arguments in launch->argv. */
void launch_words_make(struct launch *launch);

/* Executes the recorder. Returns only on error. */
long launch_words_execute(const struct launch *launch);

/* Closes all descriptors except these; negative ones are ignored. No other file
 * gets the number of standard error. */
void launch_files_close(const int *keep, unsigned count);

/* Raises the descriptor limit to the maximum; returns the limit, 0 if it is
 * unknown. */
uint64_t launch_files_raise(void);

/* Opens /proc files of the process and its parent by path, as both may end
 * soon. Into launch->file. */
void launch_files_parent(struct launch *launch);

/* Collects what a task that shares the target's memory can find out, and only
 * the recorder needs: the thread does not wait for it. Also publishes the
 * descriptors of launch_files_parent. */
void launch_files_memory(struct launch *launch);

/* Closes the descriptors that the recorder inherits, if it has another
 * descriptor table. */
void launch_files_shut(const struct launch *launch);

/* Makes the live mapping, and publishes in it what is known. 0 or -errno. */
int launch_make(struct launch *launch);

/* The recorder could not be started because of err (-errno): sets the state of
 * the recording and tells the user. */
void launch_failed(const struct launch *launch, long err);

/*
 * Starts the recorder of a process that cannot have tasks that share memory.
 * emulated: because of an emulator. 0, or -errno if launch_failed has not
 * reported the error.
 */
int launch_fork(struct launch *launch, bool emulated);

#endif
