/*
 * trace_encode.h: writes events into a trace, one at a time, as fast as they
 * can be made. cli/trace/write/compose.h, which is simpler, writes the same
 * format from lists.
 */
#ifndef GNOMON_TRACE_ENCODE_H
#define GNOMON_TRACE_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define ENCODER_THREADS_MAX 256

struct encoder;

/* NULL: the file cannot be written, which was said. All code is one image,
 * which lies in no file. */
struct encoder *encoder_open(const char *path, unsigned threads,
			     uint64_t code_start, uint64_t code_size);
/* The id of a new node; `parent` 0: none. */
uint32_t encoder_node(struct encoder *encoder, uint32_t parent,
		      uint64_t address);
/* Whose events the next ones are. */
void encoder_thread(struct encoder *encoder, unsigned thread);
/* Context and size count for GT_ALLOC and GT_REALLOC_DONE only. */
void encoder_event(struct encoder *encoder, unsigned kind, uint64_t ticks,
		   uint64_t address, uint32_t context, uint64_t size);
uint64_t encoder_events(const struct encoder *encoder);
/* False: something could not be written, which was said. */
bool encoder_close(struct encoder *encoder);

#endif
