/*
 * census.h: the threads of the target as the trace knows them: that they
 * began, what they are called, that they are gone. The writer only.
 */
#ifndef GNOMON_CENSUS_H
#define GNOMON_CENSUS_H

#include <stdint.h>

#include "cli/recorder/feed.h"

/* A THREAD chunk of one record; stamp: the full counter. */
void census_record(struct feed *feed, enum gt_thread_what what, uint32_t id,
		   uint64_t stamp);

/* The thread of this ring, unless it is known. Before the ring's events. */
void census_announce(struct feed *feed, uint32_t id, uint64_t now_ns);

/* Looks after names that were changed behind our back. */
void census_names(struct feed *feed, uint64_t now_ns);

/* Takes back the rings of threads that are gone, if it is time for that: sooner
 * where rings are wanted. */
void census_look(struct feed *feed, bool wanted, uint64_t now_ns);

#endif
