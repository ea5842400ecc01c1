/*
 * emit_image.c: converts image records of the live mapping to IMAGE chunks.
 *
 * The unwinder has a path as passed to the loader, perhaps relative, and no
 * path of the program itself. The kernel's list of the target's mappings has
 * full paths, while the target lives. But that list is current: another library
 * may have replaced a closed one. So the kernel's path is only used if it
 * matches the library's name. If the target has ended, there is no list: then
 * the path is the loader's, or the file that an emulator opens for it.
 *
 * I1: a complete record in the live mapping is copied and checked; all code
 *     uses the copy. Only end_node is read from the record later.
 * I2: `mapped` is the kernel's path, or a file found to be the same: no other
 *     path is opened later.
 */
#include "cli/recorder/emit/emit_image.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recorder/emit/emulated_file.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/pathname.h"
#include "preload/base/base.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/base/zeroed.h"
#include "unwind/base/assertion.h"

#define EMIT_IMAGE_BATCH 32	/* looked up in one pass over the mappings */
#define EMIT_IMAGE_DELETED " (deleted)"

enum { EMIT_IMAGE_NEW, EMIT_IMAGE_WRITTEN, EMIT_IMAGE_GONE };

struct emit_image_batch {
	struct emit_image *emit;
	uint32_t index[EMIT_IMAGE_BATCH];
	uint32_t count;
	uint8_t *to;		/* end of the payload so far */
};

static uint8_t *emit_image_bytes(uint8_t *to, const void *from, size_t n)
{
	to = varint_put(to, n);
	memcpy(to, from, n);
	return to + n;
}

/* I1 */
static void emit_image_copy(struct gl_image *copy, const struct gl_image *from)
{
	*copy = *from;
	copy->segments = base_min(copy->segments, GL_SEGMENTS_MAX);
	copy->build_id_size = base_min(copy->build_id_size, GL_BUILD_ID_MAX);
	copy->flags &= GT_IMAGE_MAIN | GT_IMAGE_VDSO | GT_IMAGE_LATE;
	copy->path[GL_IMAGE_PATH - 1] = '\0';
}

static uint8_t *emit_image_mapped(uint8_t *to, uint32_t index,
				  const struct gl_image *image,
				  const char *path, size_t path_length)
{
	uint32_t i;

	DEBUG_ASSERT(image->segments <= GL_SEGMENTS_MAX &&
		     image->build_id_size <= GL_BUILD_ID_MAX); /* I1 */
	to = varint_put(to, GT_IMAGE_MAPPED);
	to = varint_put(to, index);
	to = varint_put(to, image->flags);
	to = varint_put(to, image->first_node);
	to = varint_put(to, image->bias);
	to = varint_put(to, image->segments);
	for (i = 0; i < image->segments; i++) {
		to = varint_put(to, image->segment[i].start);
		to = varint_put(to, image->segment[i].size);
		to = varint_put(to, image->segment[i].offset);
		to = varint_put(to, image->segment[i].flags);
	}
	to = emit_image_bytes(to, image->build_id, image->build_id_size);
	return emit_image_bytes(to, path, path_length);
}

static void emit_image_one(struct emit_image_batch *batch, uint32_t i,
			   const char *path)
{
	uint32_t index = batch->index[i];
	size_t n = strlen(path), d = sizeof(EMIT_IMAGE_DELETED) - 1;

	DEBUG_ASSERT(i < batch->count && index < GL_IMAGES_MAX);
	DEBUG_ASSERT(batch->emit->state[index] == EMIT_IMAGE_NEW);
	if (n > d && strcmp(path + n - d, EMIT_IMAGE_DELETED) == 0)
		n -= d;
	batch->to = emit_image_mapped(batch->to, index,
				      &batch->emit->copies[index], path, n);
	batch->index[i] = batch->index[--batch->count];
	batch->emit->state[index] = EMIT_IMAGE_WRITTEN;
	log_file_print(OPTION_LOG_DEBUG, "image", path);
}

/* The name without directory and version: libz of /lib/libz.so.1.2.13. */
static size_t emit_image_stem(const char **path)
{
	size_t n = 0;

	*path = pathname_base(*path);
	while ((*path)[n] && strncmp(*path + n, ".so", 3) != 0)
		n++;
	return n;
}

/* Whether the kernel's path may be that of the image. */
static bool emit_image_is(const struct gl_image *image, const char *path)
{
	const char *name = image->path;
	size_t n, m;

	/* loaded by a descriptor, like files that exist only in memory */
	if (image->flags & (GT_IMAGE_MAIN | GT_IMAGE_VDSO) || !name[0] ||
	    strncmp(name, "/proc/", 6) == 0 || strncmp(name, "/dev/fd/", 8) == 0)
		return true;
	n = emit_image_stem(&name);
	m = emit_image_stem(&path);
	return n == m && memcmp(name, path, n) == 0;
}

/* I2. Without memory, the file will not be embedded. */
static void emit_image_remember(struct emit_image *emit, uint32_t index,
				const char *path)
{
	free(emit->mapped[index]);
	emit->mapped[index] = path[0] == '/' ? strdup(path) : NULL;
}

static void emit_image_visit(const struct target_map *map, void *arg)
{
	struct emit_image_batch *batch = arg;
	uint32_t i = 0;

	while (i < batch->count) {
		const struct gl_image *image =
			&batch->emit->copies[batch->index[i]];
		uint64_t start = image->segment[0].start;

		if (image->segments && start >= map->start &&
		    start < map->end && emit_image_is(image, map->path)) {
			emit_image_remember(batch->emit, batch->index[i],
					    map->path);
			emit_image_one(batch, i, map->path);
		} else {
			i++;
		}
	}
}

/* Not in the kernel's list: uses the loader's path, which is empty for the
 * program. */
static void emit_image_unmapped(struct emit_image_batch *batch)
{
	struct emit_image *emit = batch->emit;
	const struct gl_image *image = &emit->copies[batch->index[0]];
	char found[GT_PATH_MAX];

	if (image->flags & GT_IMAGE_MAIN && !image->path[0]) {
		emit_image_one(batch, 0, emit->exe);
	} else if (emit->prefix &&
		   emulated_file_find(image, emit->prefix, found)) {
		emit_image_remember(emit, batch->index[0], found);
		emit_image_one(batch, 0, found);
	} else {
		emit_image_one(batch, 0, image->path);
	}
}

static void emit_image_write(struct emit_image_batch *batch)
{
	struct emit_image *emit = batch->emit;

	if (!batch->count)
		return;
	batch->to = chunk_payload(emit->out);
	target_file_maps(emit_image_visit, batch);
	while (batch->count)
		emit_image_unmapped(batch);
	chunk_write(emit->out, GT_IMAGE, batch->to, NULL);
}

uint32_t emit_image_count(const struct emit_image *emit)
{
	/* relaxed: each record is published by its own state */
	return base_min(atomic_load_explicit(&emit->header->image_count,
					     memory_order_relaxed),
			*emit->reserved);
}

int emit_image_init(struct emit_image *emit)
{
	emit->copies = (struct gl_image *)zeroed_alloc(
		GL_IMAGES_MAX * sizeof(*emit->copies));
	emit->mapped = zeroed_alloc(GL_IMAGES_MAX * sizeof(*emit->mapped));
	emit->prefix = emulated_file_prefix();
	return emit->copies && emit->mapped ? 0 : -ENOMEM;
}

void emit_image_flush(struct emit_image *emit)
{
	uint32_t count = emit_image_count(emit), i;
	struct emit_image_batch batch = { emit, { 0 }, 0, NULL };
	bool all = true;

	if (likely(emit->complete == count))
		return;
	for (i = emit->complete; i < count; i++) {
		/* pairs with the release that completes a record */
		if (!atomic_load_explicit(&emit->images[i].state,
					  memory_order_acquire)) {
			all = false;
			continue;
		}
		if (emit->state[i] == EMIT_IMAGE_NEW) {
			emit_image_copy(&emit->copies[i], &emit->images[i]);
			batch.index[batch.count++] = i;
		}
		DEBUG_ASSERT(batch.count <= EMIT_IMAGE_BATCH);
		if (batch.count == EMIT_IMAGE_BATCH)
			emit_image_write(&batch);
		if (all)
			emit->complete = i + 1;
	}
	emit_image_write(&batch);
}

void emit_image_flush_gone(struct emit_image *emit)
{
	uint8_t *start = chunk_payload(emit->out), *to = start;
	uint32_t i;

	emit_image_flush(emit);
	for (i = 0; i < emit->complete; i++) {
		/* pairs with the release of the thread that saw it unloaded */
		uint32_t end = atomic_load_explicit(&emit->images[i].end_node,
						    memory_order_acquire);

		if (!end || emit->state[i] != EMIT_IMAGE_WRITTEN)
			continue;
		to = varint_put(to, GT_IMAGE_GONE);
		to = varint_put(to, i);
		to = varint_put(to, end);
		emit->state[i] = EMIT_IMAGE_GONE;
	}
	if (to != start)
		chunk_write(emit->out, GT_IMAGE, to, NULL);
}
