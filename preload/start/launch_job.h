/*
 * launch_job.h: what is done to start a recorder (launch.c), in pieces that its
 * files share. All of this is called by who starts it, with all signals blocked,
 * or by a task or child of that one: system calls only (I1 of launch.c).
 */
#ifndef GNOMON_LAUNCH_JOB_H
#define GNOMON_LAUNCH_JOB_H

#include "preload/ring/recorder.h"
#include "preload/start/live_make.h"

#define LAUNCH_FILES 32	/* descriptors that a recorder can do without */
#define LAUNCH_STACK (32u << 10)
#define LAUNCH_NUMBERS 4
#define LAUNCH_WORDS (LAUNCH_NUMBERS + 4)

/* What the helper works on. In the area. */
struct launch {
	struct recorder *r;
	struct live_made made;
	struct live_where where;
	int output;		/* descriptor that the recorder takes; -1 */
	uint64_t files;		/* descriptors that the recorder may have */
	int32_t file[GL_FILES];
	int err;
	int32_t parent;		/* the process's, not the helper's */
	uint32_t ledger_wants;	/* enum ledger_why */
	bool quiet;		/* nothing is to be said */
	bool alone;		/* without a helper */
	char *stack;
	char number[LAUNCH_NUMBERS][16];
	char parent_trace[GT_PATH_MAX];
	char *argv[LAUNCH_WORDS + 1];
};

/* The recorder's program. Constant after launch_environment (I2). */
extern char launch_program[GT_PATH_MAX];

/* The arguments of the recorder, into launch->argv. */
void launch_words_make(struct launch *launch);

/* Becomes the recorder. Comes back with an error, if at all. */
long launch_words_execute(const struct launch *launch);

/* All that is open but these, of which negative ones are none. Nothing else gets
 * the number of standard error. */
void launch_files_close(const int *keep, unsigned count);

/* As many as it may have; how many that is, 0 if that is not known. */
uint64_t launch_files_raise(void);

/* Of the process and of its parent, by their names: they may be gone soon. Into
 * launch->file. */
void launch_files_kin(struct launch *launch);

/* What has the target's memory can find out, and only the recorder has to know:
 * the thread does not wait for it. Also what launch_files_kin opened is told. */
void launch_files_memory(struct launch *launch);

/* Closes what the recorder inherits, where it is not of another table. */
void launch_files_shut(const struct launch *launch);

/* Makes the live mapping, and tells in it what is known. 0 or -errno. */
int launch_make(struct launch *launch);

/* There is no recorder, and will be none, because of err (-errno): the state of
 * the recording and the user are told. */
void launch_failed(const struct launch *launch, long err);

/*
 * The recorder of a process that has no tasks that share memory. emulated: that
 * an emulator is why. 0 or -errno, where launch_failed has not told the error.
 */
int launch_alone(struct launch *launch, bool emulated);

#endif
