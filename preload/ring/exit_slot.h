/*
 * exit_slot.h: slots for the exit statuses of children, see exit_status.c.
 */
#ifndef GNOMON_EXIT_SLOT_H
#define GNOMON_EXIT_SLOT_H

#include "preload/ring/shared.h"

#define EXIT_STATUS_PID_BITS 22 /* PID_MAX_LIMIT */
#define EXIT_STATUS_STATUS_BITS 16
#define EXIT_STATUS_COUNT_SHIFT 60
#define EXIT_STATUS_GIVEN 0x100u /* flag in gl_shared.exits: it has a status */

static inline unsigned exit_status_slot(int pid)
{
	return (unsigned)pid % GL_EXITS;
}

static inline uint64_t exit_status_key(int pid, int parent)
{
	return ((uint64_t)pid << EXIT_STATUS_PID_BITS | (uint64_t)parent)
	       << EXIT_STATUS_STATUS_BITS;
}

#endif
