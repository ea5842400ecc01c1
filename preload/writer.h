/*
 * writer.h: the task that turns rings into a trace. It shares the target's
 * memory but is a process of its own, so it outlives the target.
 */
#ifndef GNOMON_WRITER_H
#define GNOMON_WRITER_H

#include "preload/recorder.h"

/*
 * Starts it, and waits until the live mapping is there and the trace is open.
 * 0, or -errno; r->message then says what is wrong, if it is not empty. The
 * thread that starts the recorder.
 */
int writer_start(struct recorder *r);

/* At the end of the program: what is to be said about its allocator is said
 * while there still is somebody to hear it. Waits for a moment at most. */
void writer_hear(struct recorder *r);

/* At the end of the program: nothing to do, unless the writer is a thread
 * that would die with it. */
void writer_join(struct recorder *r);

/* A writer's descriptors while no task of ours shares the target's memory. */
struct writer_aside {
	int pidfd, output, live;
};

/*
 * What the kernel grants only to a process whose memory nobody shares is done
 * between the two. In a process of one thread. False: the writer stays.
 */
bool writer_step_aside(struct recorder *r, struct writer_aside *aside);
void writer_return(struct recorder *r, struct writer_aside *aside);

#endif
