/*
 * embed_used.c: see the header. Nodes are only ever added, and each is read
 * once.
 */
#include "cli/recorder/embed/embed_used.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "preload/base/base.h"
#include "cli/recorder/process/target_file.h"
#include "unwind/base/assertion.h"

#define EMBED_USED_NODES 4096	/* read in one step: 1 ms */
#define EMBED_USED_BEHIND 65536	/* with more new nodes than these, some are
				 * skipped */
#define EMBED_USED_DELETED " (deleted)"

static bool embed_used_covers(const struct embed_used *used, uint32_t number,
			      uint32_t node, uint64_t address)
{
	const struct gl_image *image = &used->emit->copies[number];
	uint32_t end = atomic_load_explicit(
		&used->emit->images[number].end_node, memory_order_relaxed);
	uint32_t i;

	if (node < image->first_node || (end && node >= end))
		return false;
	for (i = 0; i < image->segments; i++)
		if (address - image->segment[i].start < image->segment[i].size)
			return true;
	return false;
}

static void embed_used_node(struct embed_used *used, uint32_t id)
{
	const struct gl_node *nodes =
		(struct gl_node *)live_at(used->live,
					  used->live->shape.nodes_offset);
	uint32_t count = used->emit->complete, i;
	uint64_t address = order_read(&nodes[id], address);

	DEBUG_ASSERT(count <= GL_IMAGES_MAX);
	if (used->image < count &&
	    embed_used_covers(used, used->image, id, address)) {
		used->nodes[used->image]++;
		return;
	}
	for (i = 0; i < count; i++) {
		if (!embed_used_covers(used, i, id, address))
			continue;
		used->nodes[i]++;
		used->image = i;
		return;
	}
}

bool embed_used_poll(struct embed_used *used)
{
	/* pairs with the release that adds a node */
	uint32_t count = base_min(
		atomic_load_explicit(&used->live->header->node_count,
				     memory_order_acquire),
		used->live->nodes_reserved);
	uint32_t left = EMBED_USED_NODES;

	/* the images of these nodes were known before them */
	emit_image_flush(used->emit);
	if (used->node < GT_STOP_COUNT)
		used->node = GT_STOP_COUNT;
	while (used->node < count && left--) {
		embed_used_node(used, used->node);
		used->node += 1 + (count - used->node) / EMBED_USED_BEHIND;
	}
	return used->node < count;
}

bool embed_used_next(struct embed_used *used, uint32_t *number)
{
	uint32_t count = used->emit->complete, best = count, i;

	DEBUG_ASSERT(count <= GL_IMAGES_MAX);
	for (i = 0; i < count; i++)
		if (!used->done[i] && used->nodes[i] &&
		    (best == count || used->nodes[i] > used->nodes[best]))
			best = i;
	if (best == count)
		return false;
	used->done[best] = true;
	*number = best;
	return true;
}

/* Finds the kernel's path of the mapping at the image's start. */
static void embed_used_visit(const struct target_map *map, void *arg)
{
	static const char deleted[] = EMBED_USED_DELETED;
	struct embed_wanted *wanted = arg;
	uint64_t start = wanted->start;
	size_t n = strlen(map->path), d = sizeof(deleted) - 1;

	if (wanted->end || start < map->start || start >= map->end ||
	    map->path[0] != '/')
		return;
	if (n > d && strcmp(map->path + n - d, deleted) == 0)
		n -= d;
	n = base_min(n, sizeof(wanted->path) - 1);
	memcpy(wanted->path, map->path, n);
	wanted->path[n] = '\0';
	wanted->start = map->start;
	wanted->end = map->end;
}

void embed_used_describe(const struct embed_used *used, uint32_t number,
			 const char *exe, struct embed_wanted *wanted)
{
	const struct gl_image *image = &used->emit->copies[number];
	const char *path = used->emit->mapped[number];

	wanted->main = image->flags & GT_IMAGE_MAIN;
	if (!path)
		path = wanted->main ? exe : image->path;
	snprintf(wanted->path, sizeof(wanted->path), "%s", path);
	wanted->id_size = image->build_id_size;
	DEBUG_ASSERT(wanted->id_size <= sizeof(wanted->id));
	memcpy(wanted->id, image->build_id, wanted->id_size);
	wanted->start = image->segments ? image->segment[0].start : 0;
	wanted->end = 0;
	target_file_maps(embed_used_visit, wanted);
	if (!wanted->end)
		wanted->start = 0;
}
