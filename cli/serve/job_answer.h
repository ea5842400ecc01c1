/*
 * job_answer.h: turns the result of a job into an HTTP answer. One thread, the
 * front's.
 */
#ifndef GNOMON_JOB_ANSWER_H
#define GNOMON_JOB_ANSWER_H

#include "cli/serve/job.h"

/* The answer of a job whose worker ended with this wait status. Takes ownership
 * of the output. */
struct answer *job_answer(const struct job_queue *queue, struct job *job,
			  int status);
/* The most bytes that its answer may have. */
uint64_t job_answer_max(const struct job *job);
/* The messages of a process, from the memory file of its standard error; the
 * caller frees them. */
char *job_answer_said(int fd);

#endif
