/*
 * parent_live.h: reads the live file of a forked child's parent: how children
 * ended, and which files the parent's trace embeds. The child opens the file
 * before it starts its recorder, which inherits the descriptor. So it is
 * readable even after the parent's recorder has removed it.
 *
 * The file is untrusted. It is checked, and read a few bytes at a time rather
 * than mapped, so that a missing page cannot raise SIGBUS.
 */
#ifndef GNOMON_PARENT_LIVE_H
#define GNOMON_PARENT_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/recorder/base/recording.h"

/* Checks r->from_parent.fd and sets r->from_parent.pid. If it is no live file,
 * closes it and sets it to -1. */
void parent_live_begin(struct recording *r);

/* Reads n bytes at `offset` of the parent's struct gl_shared. False: not
 * available. */
bool parent_live_read(const struct recording *r, size_t offset, void *to,
		      size_t n);

#endif
