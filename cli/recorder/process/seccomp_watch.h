/*
 * seccomp_watch.h: detects seccomp filters that no hook saw, because they were
 * installed without the C library or before exec. Sets bits of
 * gl_shared.ban_found. The recorder only.
 */
#ifndef GNOMON_SECCOMP_WATCH_H
#define GNOMON_SECCOMP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"

struct seccomp_watch {
	unsigned own_mode;
	unsigned own_filters;
	uint32_t next;		/* next ring to check */
};

/* As the recorder starts: it inherits the filters of the process that started
 * it. */
void seccomp_watch_begin(struct seccomp_watch *watch);

/* Call at intervals: checks some threads. */
void seccomp_watch_poll(struct seccomp_watch *watch,
			const struct recording *r);

#endif
