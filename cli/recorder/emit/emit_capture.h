/*
 * emit_capture.h: CAPTURE chunks: how each thread's stacks were taken, and
 * what that used. The writer only.
 */
#ifndef GNOMON_EMIT_CAPTURE_H
#define GNOMON_EMIT_CAPTURE_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"

/* Of a thread that has ended; its state is not yet another's. */
void emit_capture(struct chunk_out *out, const struct recording *r,
		  uint32_t id);

/* Of all that have not, as they are now. */
void emit_capture_all(struct chunk_out *out, const struct recording *r);

#endif
