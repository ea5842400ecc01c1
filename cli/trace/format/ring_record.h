/*
 * ring_record.h: decodes the records of a ring (preload/format.h), for the
 * recorder and for live file recovery.
 */
#ifndef GNOMON_RING_RECORD_H
#define GNOMON_RING_RECORD_H

#include <stdint.h>

#include "cli/trace/format/trace_format.h"

struct gt_event_kind {
	unsigned bytes, has;
};

/* An unknown kind gets the description of one with an address only. */
static inline struct gt_event_kind gt_event_kind(unsigned kind)
{
	switch (kind) {
#define GT_KIND(number, name, bytes, has) \
	case number: return (struct gt_event_kind){ bytes, has };
	GT_EVENT_KINDS(GT_KIND)
#undef GT_KIND
	}
	return (struct gt_event_kind){ 16, 0 };
}

/* The layout column's value for a header from word 1. */
static inline unsigned gl_layout(unsigned header, uint64_t size)
{
	unsigned layout = GT_LAYOUT_KNOWN | (header & 6);

	if (!(header & GL_HEADER_KNOWN))
		return 0;
	return layout | (((header & 0xfff0u) - gt_layout_chunk(size, layout))
			 & 0xfff0u) >> 4 << GT_LAYOUT_SHIFT;
}

/* The kind in word 0. It may be unknown. */
static inline unsigned gl_kind(uint64_t word0)
{
	return word0 & (GL_KIND_STACK - 1);
}

static inline uint64_t gl_counter(uint64_t word0)
{
	return word0 >> GL_KIND_BITS;
}

/* Whether a record of this word 0 has a context, in word 2. */
static inline int gl_has_context(uint64_t word0)
{
	return word0 & GL_KIND_STACK ||
	       gt_event_kind(gl_kind(word0)).has & (GT_IS_BLOCK | GT_IS_EXTRA);
}

/* The size of a block. */
static inline uint64_t gl_size(uint64_t word2, uint64_t word3)
{
	return word2 >> 32 == GL_SIZE_BIG ? word3 : word2 >> 32;
}

static inline unsigned gl_record_words(uint64_t word0, uint64_t word2)
{
	struct gt_event_kind kind = gt_event_kind(gl_kind(word0));

	if (kind.has & GT_IS_BLOCK)
		return kind.bytes / 8 + (word2 >> 32 == GL_SIZE_BIG);
	return kind.bytes / 8 +
	       (word0 & GL_KIND_STACK && !(kind.has & GT_IS_EXTRA));
}

#endif
