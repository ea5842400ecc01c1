/*
 * sample.h: what decides of all threads' events whether they are recorded
 * (aside.h). In the area: a forked child finds zeros.
 */
#ifndef GNOMON_SAMPLE_H
#define GNOMON_SAMPLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/sample/chosen.h"

/* Which blocks are recorded at all. */
struct limits {
	uint64_t mean;		/* of a sample's distances, in bytes; 0: all */
	_Atomic uint64_t least, most;	/* size */
};

/* Hardly ever written, but for `chosen`. */
struct sample {
	_Alignas(BASE_LINE) struct limits limits;
	/* low bit: threads begin inactive; the rest counts how many times all
	 * were told */
	_Atomic uint32_t activity;
	uint64_t seed;		/* of the threads' lines */
	_Atomic uint32_t choosers;	/* threads that have begun a line of it */
	struct chosen chosen;
};

/* NULL until the first start. Constant afterwards, also in children. */
extern BASE_HIDDEN struct sample *sample;

/* Gives it its place. Once per process image, when there is an area of which
 * nothing was given out. */
void sample_place(void);

#endif
