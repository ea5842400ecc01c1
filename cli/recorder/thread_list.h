/*
 * thread_list.h: writes the start, the name and the end of each thread of the
 * target to the trace. The recorder only.
 */
#ifndef GNOMON_THREAD_LIST_H
#define GNOMON_THREAD_LIST_H

#include <stdint.h>

#include "cli/recorder/ring_drain.h"

/* A THREAD chunk of one record; stamp: the full counter. */
void thread_list_record(struct ring_drain *drain, enum gt_thread_what what,
			uint32_t id, uint64_t stamp);

/* Announces the thread of this ring, unless the trace has it already. Call
 * before the ring's events are written. */
void thread_list_announce(struct ring_drain *drain, uint32_t id,
			  uint64_t now_ns);

/* Reads thread names again, as threads may rename themselves without a hook
 * seeing it. */
void thread_list_names(struct ring_drain *drain, uint64_t now_ns);

/* Reclaims the rings of threads that have ended, if a check is due. `wanted`:
 * new threads need rings, so the check is due sooner. */
void thread_list_poll(struct ring_drain *drain, bool wanted, uint64_t now_ns);

#endif
