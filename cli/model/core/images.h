/*
 * images.h: the modules (ELF files) that were mapped, each with the interval of
 * context ids (its epoch) in which its addresses were valid.
 */
#ifndef GNOMON_IMAGES_H
#define GNOMON_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/table.h"
#include "cli/model/core/owned_ranges.h"
#include "cli/trace/decode/records.h"

#define IMAGE_NONE UINT32_MAX

struct image {
	uint32_t flags;		/* enum gt_image_flags */
	uint32_t first_node;
	uint32_t end_node;	/* UINT32_MAX while it is mapped */
	uint32_t same_as;	/* the first image with the same file at the
				 * same address; it represents all of them */
	bool overlapped;	/* shares addresses with another image */
	bool known;		/* false: only its index is known */
	uint64_t bias;
	unsigned segment_count;
	struct trace_segment segments[GL_SEGMENTS_MAX];
	uint8_t build_id[GL_BUILD_ID_MAX];
	size_t build_id_size;
	const char *path;	/* "": unknown */
	const char *name;	/* last part of the path */
};

#define IMAGES_CACHE 1024

struct images {
	struct image *list;	/* in the order in which they were mapped */
	size_t count;
	size_t capacity;
	struct table by_index;	/* index in the trace -> index here */
	struct owned_ranges
		owned_ranges; /* segments; the owner is an index of `list` */
	struct intern names;
	struct { uint64_t page; uint32_t image; } cache[IMAGES_CACHE];
	uint64_t refused;	/* records over the limit */
};

void images_init(struct images *images);

/* The result of a record. */
enum images_added {
	IMAGES_ADDED,
	IMAGES_OTHER,		/* the index already belongs to another image */
	IMAGES_UNKNOWN,		/* the end of an unknown image, or before its
				 * start */
	IMAGES_REFUSED		/* over the limit */
};
enum images_added images_add(struct images *images,
			     const struct trace_image *record);
/* The image at `address` when node `id` was made; or IMAGE_NONE. */
uint32_t images_find(struct images *images, uint32_t id, uint64_t address);
/* The image at this address, if there was only ever one; or IMAGE_NONE. */
uint32_t images_find_only(const struct images *images, uint64_t address);
void images_free(struct images *images);

#endif
