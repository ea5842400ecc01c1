/*
 * frames_prepare.h: symbols looked up many at a time, by several threads,
 * before they are wanted one by one (symbols_prepare). Nothing needs it, but
 * whatever walks along many contexts is faster for it.
 */
#ifndef GNOMON_FRAMES_PREPARE_H
#define GNOMON_FRAMES_PREPARE_H

#include "cli/stack/frames.h"

/* All contexts' frames, once for each `frames`. */
void frames_prepare_all(struct frames *frames);
/* The frames of one context's stack. */
void frames_prepare_stack(struct frames *frames, uint32_t node);
/* One frame of each of these. */
void frames_prepare_nodes(struct frames *frames, const uint32_t *nodes,
			  size_t count);

#endif
