/*
 * sample.h: sampling state shared by all threads (skip.h). In the area: a
 * forked child finds zeros.
 */
#ifndef GNOMON_SAMPLE_H
#define GNOMON_SAMPLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/sample/sampled_set.h"

/* The blocks that are recorded. */
struct limits {
	uint64_t mean;		/* mean of the sampler's distances, in bytes; 0:
				 * all */
	_Atomic uint64_t size_min, size_max;
};

/* Hardly ever written, except `sampled_set`. */
struct sample {
	_Alignas(BASE_LINE) struct limits limits;
	/* low bit: threads start inactive; other bits: count of changes for all
	 * threads */
	_Atomic uint32_t activity;
	uint64_t seed;		/* of the samplers of all threads */
	_Atomic uint32_t samplers;	/* started so far, one for a thread */
	struct sampled_set sampled_set;
};

/* NULL until the first start. Constant afterwards, also in children. */
extern BASE_HIDDEN struct sample *sample;

/* Allocates `sample` (area_place). Once per process image, before the first
 * area_alloc. */
void sample_alloc(void);

#endif
