/*
 * seccomp_watch.h: filters of system calls that no hook has seen: put in force
 * without the C library, or before exec. What is found is in
 * gl_shared.ban_found. The writer only.
 */
#ifndef GNOMON_SECCOMP_WATCH_H
#define GNOMON_SECCOMP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"

struct seccomp_watch {
	unsigned own_mode;
	unsigned own_filters;
	uint32_t next;		/* ring to look at */
};

/* As the writer begins: it has what its starter had when it was made. */
void seccomp_watch_begin(struct seccomp_watch *watch);

/* Now and then: looks at some threads. */
void seccomp_watch_look(struct seccomp_watch *watch,
			const struct recording *r);

#endif
