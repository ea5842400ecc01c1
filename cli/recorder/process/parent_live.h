/*
 * parent_live.h: what the process that a child was forked from tells it, in the
 * parent's live file: how children ended, and what is embedded in its trace.
 * The child opens the file as it starts its recorder, which inherits it, so it
 * can be read after the parent's recorder has removed it.
 *
 * The file may be anything: it is checked, and read a few bytes at a time, so
 * that no page of it can be missing.
 */
#ifndef GNOMON_PARENT_LIVE_H
#define GNOMON_PARENT_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/recorder/base/recording.h"

/* Looks at r->told.fd, which is closed and -1 if it is no such file; fills in
 * r->told.pid. */
void parent_live_begin(struct recording *r);

/* n bytes from `offset` of the parent's struct gl_shared. False: they are not
 * there. */
bool parent_live_read(const struct recording *r, size_t offset, void *to,
		      size_t n);

#endif
