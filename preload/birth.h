/*
 * birth.h: making the task that is the writer.
 */
#ifndef GNOMON_BIRTH_H
#define GNOMON_BIRTH_H

#include <stdbool.h>

/* One at a time: the next may be born when the last has ended. */
struct birth {
	void (*fn)(void *arg);	/* must not return */
	void *arg;
	char *stack, *tls;	/* of the area */
	bool thread;		/* it is one of our thread group */
	long pid;
};

/* Memory for it, once. 0 or -ENOMEM. */
int birth_prepare(struct birth *birth);

/* The task's id, or -errno. A thread of the target; signals are blocked in
 * the task. */
long birth_give(struct birth *birth);

#endif
