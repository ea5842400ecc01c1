/*
 * census.h: writes the start, the name and the end of each thread of the target
 * to the trace. The writer only.
 */
#ifndef GNOMON_CENSUS_H
#define GNOMON_CENSUS_H

#include <stdint.h>

#include "cli/recorder/feed.h"

/* A THREAD chunk of one record; stamp: the full counter. */
void census_record(struct feed *feed, enum gt_thread_what what, uint32_t id,
		   uint64_t stamp);

/* Announces the thread of this ring, unless the trace has it already. Call
 * before the ring's events are written. */
void census_announce(struct feed *feed, uint32_t id, uint64_t now_ns);

/* Reads thread names again, as threads may rename themselves without a hook
 * seeing it. */
void census_names(struct feed *feed, uint64_t now_ns);

/* Reclaims the rings of threads that have ended, if a check is due. `wanted`:
 * new threads need rings, so the check is due sooner. */
void census_look(struct feed *feed, bool wanted, uint64_t now_ns);

#endif
