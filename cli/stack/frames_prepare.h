/*
 * frames_prepare.h: looks up many symbols at a time, by several threads
 * (symbols_prepare), before they are needed one by one. Optional, but makes
 * walks along many contexts faster.
 */
#ifndef GNOMON_FRAMES_PREPARE_H
#define GNOMON_FRAMES_PREPARE_H

#include "cli/stack/frames.h"

/* The frames of all contexts; has an effect once per `frames`. */
void frames_prepare_all(struct frames *frames);
/* The frames of one context's stack. */
void frames_prepare_stack(struct frames *frames, uint32_t node);
/* One frame of each of these nodes. */
void frames_prepare_nodes(struct frames *frames, const uint32_t *nodes,
			  size_t count);

#endif
