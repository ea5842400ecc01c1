/*
 * emit_capture.h: writes CAPTURE chunks: how each thread's stacks were
 * captured, and at what cost. The recorder only.
 */
#ifndef GNOMON_EMIT_CAPTURE_H
#define GNOMON_EMIT_CAPTURE_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"

/* For a thread that has ended, before its state is reused. */
void emit_capture(struct chunk_out *out, const struct recording *r,
		  uint32_t id);

/* For all threads that have not ended, as of now. */
void emit_capture_all(struct chunk_out *out, const struct recording *r);

#endif
