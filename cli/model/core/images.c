/*
 * images.c: see images.h. The newest image counts: if an image was unmapped and
 * another mapped at the same addresses, and the record of the first one's end
 * has not been read yet, the newest image whose first node is not above the id
 * is right. A cache by page is used for images that share no address with any
 * other: nearly all of them.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/images.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/text/base_name.h"
#include "unwind/base/assertion.h"

#define PAGE_SHIFT 12
/* A reader's limit, twice that of the recorder. */
#define IMAGES_MAX 4096

void images_init(struct images *images)
{
	memset(images, 0, sizeof(*images));
	for (unsigned i = 0; i < IMAGES_CACHE; i++)
		images->cache[i].image = IMAGE_NONE;
}

static bool contains(const struct image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->segment_count; i++)
		if (address - image->segments[i].start <
		    image->segments[i].size)
			return true;
	return false;
}

/* A plugin that is loaded several times is the same code. */
static bool is_same(const struct image *a, const struct image *b)
{
	return a->bias == b->bias && a->path == b->path &&
		a->build_id_size == b->build_id_size && a->build_id_size > 0 &&
		memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

static struct image *add_empty(struct images *images, uint32_t index)
{
	struct image *image;

	if (images->count == IMAGES_MAX) {
		images->refused++;
		return NULL;
	}
	GROW(images->list, images->count, images->capacity);
	table_set(&images->by_index, index, (uint32_t)images->count);
	image = &images->list[images->count++];
	memset(image, 0, sizeof(*image));
	image->end_node = UINT32_MAX;
	image->path = image->name = "";
	return image;
}

static void meet_others(struct images *images, struct image *image,
			const struct trace_segment *segment)
{
	uint64_t last = segment->start + (segment->size - 1);
	uint32_t own = (uint32_t)(image - images->list);
	const struct owned_range *owned_range;
	size_t at;

	if (segment->size == 0)
		return;
	at = owned_ranges_up_to(&images->owned_ranges,
				last < segment->start ? UINT64_MAX : last);
	while ((owned_range = owned_ranges_next(&images->owned_ranges, &at,
						segment->start)) != NULL) {
		struct image *other = &images->list[owned_range->owner];

		DEBUG_ASSERT(owned_range->owner < images->count &&
			     owned_range->owner != own);
		image->overlapped = other->overlapped = true;
		if (is_same(image, other) &&
		    (image->same_as == own || other->same_as < image->same_as))
			image->same_as = other->same_as;
	}
}

static void fill(struct images *images, struct image *image,
		 const struct trace_image *record)
{
	assert(!image->known);
	image->known = true;
	image->same_as = (uint32_t)(image - images->list);
	image->flags = record->flags;
	image->first_node = record->first_node;
	image->bias = record->bias;
	assert(record->segment_count <= GL_SEGMENTS_MAX &&
	       record->build_id_size <= sizeof(image->build_id));
	image->segment_count = record->segment_count;
	memcpy(image->segments, record->segments, sizeof(image->segments));
	if (record->build_id_size)
		memcpy(image->build_id, record->build_id,
		       record->build_id_size);
	image->build_id_size = record->build_id_size;
	image->path = intern_bytes(&images->names, record->path,
				   record->path_size);
	image->name = base_name(image->path);
	for (unsigned i = 0; i < image->segment_count; i++)
		meet_others(images, image, &image->segments[i]);
	for (unsigned i = 0; i < image->segment_count; i++)
		owned_ranges_add(&images->owned_ranges,
				 image->segments[i].start,
				 image->segments[i].size,
				 (uint32_t)(image - images->list));
}

/* A record that is in the trace and in the live file. */
static bool is_repeated(const struct image *image,
			const struct trace_image *record)
{
	return image->first_node == record->first_node &&
		image->bias == record->bias &&
		image->segment_count == record->segment_count &&
		memcmp(image->segments, record->segments,
		       record->segment_count * sizeof(image->segments[0])) ==
		0;
}

enum images_added images_add(struct images *images,
			     const struct trace_image *record)
{
	uint32_t i = table_get(&images->by_index, record->index);
	struct image *image;

	DEBUG_ASSERT(i == TABLE_NONE || i < images->count);
	if (i != TABLE_NONE)
		image = &images->list[i];
	else
		image = add_empty(images, record->index);
	if (image == NULL)
		return IMAGES_REFUSED;
	if (record->what == GT_IMAGE_GONE) {
		image->end_node = record->end_node;
		return image->known && image->first_node <= image->end_node ?
			IMAGES_ADDED : IMAGES_UNKNOWN;
	}
	if (image->known)
		return is_repeated(image, record) ? IMAGES_ADDED :
			IMAGES_OTHER;
	fill(images, image, record);
	return IMAGES_ADDED;
}

static bool is_later(const struct images *images, uint32_t a, uint32_t b)
{
	uint32_t first_a = images->list[a].first_node;
	uint32_t first_b = images->list[b].first_node;

	return first_a > first_b || (first_a == first_b && a > b);
}

uint32_t images_find(struct images *images, uint32_t id, uint64_t address)
{
	uint64_t page = address >> PAGE_SHIFT;
	unsigned slot = hash_number(page) & (IMAGES_CACHE - 1);
	uint32_t cached = images->cache[slot].image;
	const struct owned_range *owned_range;
	size_t at;

	DEBUG_ASSERT(cached == IMAGE_NONE || cached < images->count);
	if (cached != IMAGE_NONE && images->cache[slot].page == page) {
		const struct image *image = &images->list[cached];

		if (!image->overlapped && contains(image, address) &&
		    image->first_node <= id && id < image->end_node)
			return cached;
	}
	/* The record of an image's end may come later: of several that fit, the
	 * last one mapped was there. */
	cached = IMAGE_NONE;
	at = owned_ranges_up_to(&images->owned_ranges, address);
	while ((owned_range = owned_ranges_next(&images->owned_ranges, &at,
						address)) != NULL) {
		const struct image *image = &images->list[owned_range->owner];

		DEBUG_ASSERT(owned_range->owner < images->count);
		if (image->first_node <= id && id < image->end_node &&
		    (cached == IMAGE_NONE ||
		     is_later(images, owned_range->owner, cached)))
			cached = owned_range->owner;
	}
	if (cached != IMAGE_NONE) {
		images->cache[slot].page = page;
		images->cache[slot].image = cached;
	}
	DEBUG_ASSERT(cached == IMAGE_NONE ||
		     contains(&images->list[cached], address));
	return cached;
}

uint32_t images_find_only(const struct images *images, uint64_t address)
{
	size_t at = owned_ranges_up_to(&images->owned_ranges, address);
	uint32_t found = IMAGE_NONE;
	const struct owned_range *owned_range;

	while ((owned_range = owned_ranges_next(&images->owned_ranges, &at,
						address)) != NULL) {
		uint32_t same = images->list[owned_range->owner].same_as;

		if (found != IMAGE_NONE && found != same)
			return IMAGE_NONE;
		found = same;
	}
	return found;
}

void images_free(struct images *images)
{
	free(images->list);
	owned_ranges_free(&images->owned_ranges);
	table_free(&images->by_index);
	intern_free(&images->names);
}
