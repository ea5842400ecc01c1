/*
 * embed_used.c: see the header. Nodes only ever become more, and each is looked
 * at once.
 */
#include "preload/embed_used.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/base.h"
#include "preload/proc.h"
#include "preload/text.h"

#define EMBED_USED_NODES 4096	/* looked at in one go: 1 ms */
#define EMBED_USED_BEHIND 65536	/* more than these: not all are looked at */
#define EMBED_USED_DELETED " (deleted)"

static bool embed_used_covers(const struct gl_image *image, uint32_t node,
			 uint64_t address)
{
	uint32_t end = atomic_load_explicit(&image->end_node,
					    memory_order_relaxed);
	uint32_t count = base_min(image->segments, GL_SEGMENTS_MAX), i;

	if (node < image->first_node || (end && node >= end))
		return false;
	for (i = 0; i < count; i++)
		if (address - image->segment[i].start < image->segment[i].size)
			return true;
	return false;
}

static void embed_used_node(struct embed_used *used, uint32_t id)
{
	const struct gl_image *images = used->emit->images;
	const struct gl_node *nodes =
		live_at(used->live, used->live->header->nodes_offset);
	uint32_t count = used->emit->complete, i;
	uint64_t address = nodes[id].address;

	if (used->image < count &&
	    embed_used_covers(&images[used->image], id, address)) {
		used->nodes[used->image]++;
		return;
	}
	for (i = 0; i < count; i++) {
		if (!embed_used_covers(&images[i], id, address))
			continue;
		used->nodes[i]++;
		used->image = i;
		return;
	}
}

bool embed_used_look(struct embed_used *used)
{
	/* pairs with the release that adds a node */
	uint32_t count = atomic_load_explicit(
		&used->live->header->node_count, memory_order_acquire);
	uint32_t left = EMBED_USED_NODES;

	/* what these nodes mean was known before them */
	emit_image_flush(used->emit);
	if (used->node < GT_STOP_COUNT)
		used->node = GT_STOP_COUNT;
	while (used->node < count && left--) {
		embed_used_node(used, used->node);
		used->node += 1 + (count - used->node) / EMBED_USED_BEHIND;
	}
	return used->node < count;
}

const struct gl_image *embed_used_next(struct embed_used *used)
{
	uint32_t count = used->emit->complete, most = count, i;

	for (i = 0; i < count; i++)
		if (!used->done[i] && used->nodes[i] &&
		    (most == count || used->nodes[i] > used->nodes[most]))
			most = i;
	if (most == count)
		return NULL;
	used->done[most] = true;
	return &used->emit->images[most];
}

/* The kernel's path of the mapping that the image begins with. */
static void embed_used_visit(const struct proc_map *map, void *arg)
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

void embed_used_describe(const struct gl_image *image, const char *exe,
			 struct embed_wanted *wanted)
{
	const char *path = image->path;
	struct text text;

	wanted->main = image->flags & GT_IMAGE_MAIN;
	if (wanted->main && !path[0])
		path = exe;
	text_init(&text, wanted->path, sizeof(wanted->path));
	text_put(&text, path);
	wanted->id_size = base_min(image->build_id_size, GL_BUILD_ID_MAX);
	memcpy(wanted->id, image->build_id, wanted->id_size);
	wanted->start = image->segments ? image->segment[0].start : 0;
	wanted->end = 0;
	proc_maps(embed_used_visit, wanted);
	if (!wanted->end)
		wanted->start = 0;
}
