/*
 * dump_frames.c: see dump_frames.h. Addresses are also resolved in images that
 * were unloaded (emit_image.h); symbols are read from the files (elf_names.h).
 *
 * I1: a context's parent has a smaller number, so every walk ends, whatever the
 *     target writes to its nodes. They are read once.
 */
#include "cli/recorder/dump/dump_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/dump/elf_names.h"
#include "cli/recorder/process/target_file.h"
#include "preload/base/base.h"
#include "preload/ring/dump_request.h"
#include "unwind/base/assertion.h"

#define FRAMES_BUCKETS 65536
#define FRAMES_OFFSET sizeof("+0x0123456789abcdef")

static bool frames_has(const struct dump_frames *frames, uint32_t context)
{
	return context >= GT_STOP_COUNT && context < frames->node_count;
}

int dump_frames_begin(struct dump_frames *frames)
{
	frames->image_count = emit_image_count(frames->images);
	frames->factor = (arch_cycles() ^ (uintptr_t)frames) *
			 UINT64_C(0x9e3779b97f4a7c15) | 1;
	frames->buckets = scratch_alloc(frames->memory,
					FRAMES_BUCKETS *
						sizeof(*frames->buckets));
	frames->node = scratch_alloc(frames->memory,
				     frames->node_count *
					     sizeof(*frames->node));
	return frames->buckets && frames->node ? 0 : -ENOMEM;
}

/* Whether the i-th image was loaded when the context was created. */
static bool frames_in_time(const struct dump_frames *frames, uint32_t i,
			   uint32_t context)
{
	uint32_t end = atomic_load_explicit(&frames->images->images[i].end_node,
					    memory_order_relaxed);

	return frames->images->copies[i].first_node <= context &&
	       (!end || context < end);
}

/* False if the image was not copied yet. */
static bool frames_in_space(const struct gl_image *image, uint64_t address)
{
	unsigned i;

	for (i = 0; i < image->segments; i++)
		if (address - image->segment[i].start < image->segment[i].size)
			return true;
	return false;
}

/* The image of an address in a context, index + 1; 0: none. */
static uint32_t frames_image(const struct dump_frames *frames,
			     uint64_t address, uint32_t context)
{
	uint32_t i;

	for (i = 0; i < frames->image_count; i++)
		if (frames_in_space(&frames->images->copies[i], address) &&
		    frames_in_time(frames, i, context))
			return i + 1;
	return 0;
}

static struct dump_frames_one **frames_bucket(const struct dump_frames *frames,
					      uint64_t address)
{
	return &frames->buckets[(address * frames->factor) >> 48];
}

/* The frame of an address (inside the call instruction), created if needed. */
static struct dump_frames_one *frames_get(struct dump_frames *frames,
					  uint64_t address, uint32_t context)
{
	struct dump_frames_one **bucket = frames_bucket(frames, address), *f;
	uint32_t image;

	for (f = *bucket; f; f = f->chain)
		if (f->frame.address == address && f->image &&
		    frames_in_time(frames, f->image - 1, context))
			return f;
	image = frames_image(frames, address, context);
	for (f = *bucket; f; f = f->chain)
		if (f->frame.address == address && f->image == image)
			return f;
	f = scratch_alloc(frames->memory, sizeof(*f));
	if (!f)
		return NULL;
	DEBUG_ASSERT(image <= frames->image_count);
	f->frame.address = address;
	f->frame.module = "";
	f->image = image;
	f->chain = *bucket;
	f->next = frames->all;
	*bucket = frames->all = f;
	return f;
}

int dump_frames_take(struct dump_frames *frames, uint32_t context)
{
	while (frames_has(frames, context) && !frames->node[context].frame) {
		const struct gl_node *node = &frames->nodes[context];
		uint64_t address = order_read(node, address);
		uint32_t parent = order_read(node, parent);
		struct dump_frames_one *f = frames_get(frames, address - 1,
						       context);

		if (!f)
			return -ENOMEM;
		frames->node[context].frame = f;
		if (parent >= context)
			break;	/* I1 */
		frames->node[context].parent = parent;
		context = parent;
	}
	return 0;
}

struct dump_frames_one *dump_frames_caller(struct dump_frames *frames,
					   uint64_t ra)
{
	/* an image that is loaded now */
	return frames_get(frames, ra - 1, UINT32_MAX);
}

const struct dump_frames_one *dump_frames_step(const struct dump_frames *frames,
					       uint32_t *context)
{
	uint32_t at = *context;

	if (!frames_has(frames, at))
		return NULL;
	DEBUG_ASSERT(frames->node[at].parent < at); /* I1 */
	*context = frames->node[at].parent;
	return frames->node[at].frame;
}

bool dump_frames_same(const struct dump_frames_one *a,
		      const struct dump_frames_one *b)
{
	if (a->image != b->image)
		return false;
	return a->frame.symbol && b->frame.symbol ?
		       a->start == b->start :
		       a->frame.address == b->frame.address;
}

/* ---- names ---- */

static int frames_compare(const void *a, const void *b)
{
	const struct elf_wanted *one = a, *other = b;

	return (one->address > other->address) -
	       (one->address < other->address);
}

/* The path to print. */
static const char *frames_path(const struct dump_frames *frames, uint32_t i)
{
	const struct gl_image *image = &frames->images->copies[i];

	if (image->flags & GT_IMAGE_VDSO)
		return "[vdso]";
	if (!image->path[0] && image->flags & GT_IMAGE_MAIN)
		return frames->images->exe;
	return image->path;
}

static bool frames_find(const struct dump_frames *frames, uint32_t i,
			struct elf_wanted *wanted, size_t count)
{
	const struct gl_image *image = &frames->images->copies[i];
	const char *path = frames->images->mapped[i];
	char program[64];

	if (image->flags & GT_IMAGE_MAIN) {
		/* the file may have been removed */
		target_file_path(GL_FILE_EXE, program, sizeof(program));
		path = program;
	}
	return path && !(image->flags & GT_IMAGE_VDSO) &&
	       elf_names_find(path, image->build_id, image->build_id_size,
			      wanted, count, frames->memory);
}

/* Looks up symbols for all frames of one image. */
static int frames_symbols(struct dump_frames *frames, uint32_t i,
			  struct dump_frames_one *const *members, size_t count)
{
	struct elf_wanted *wanted = scratch_alloc(frames->memory,
						  count * sizeof(*wanted));
	bool named;
	size_t k;

	if (!wanted)
		return -ENOMEM;
	for (k = 0; k < count; k++) {
		wanted[k].address = members[k]->frame.address -
				    frames->images->copies[i].bias;
		wanted[k].owner = k;
	}
	qsort(wanted, count, sizeof(*wanted), frames_compare);
	named = frames_find(frames, i, wanted, count);
	for (k = 0; k < count; k++) {
		struct dump_frames_one *f = members[wanted[k].owner];

		DEBUG_ASSERT(wanted[k].owner < count);
		f->frame.module = frames_path(frames, i);
		f->frame.module_offset = wanted[k].address;
		if (!named || !wanted[k].name)
			continue;
		f->frame.symbol = wanted[k].name;
		f->frame.symbol_offset = wanted[k].address - wanted[k].start;
		f->start = wanted[k].start;
	}
	return 0;
}

/* Groups the frames by image. */
static int frames_group(struct dump_frames *frames)
{
	size_t *end = scratch_alloc(frames->memory,
				    (frames->image_count + 1) * sizeof(*end));
	struct dump_frames_one *f;
	size_t count = 0;
	uint32_t i;

	for (f = frames->all; f && end; f = f->next) {
		DEBUG_ASSERT(f->image <= frames->image_count);
		end[f->image]++;
		count++;
	}
	frames->members = scratch_alloc(frames->memory,
					count * sizeof(f) + 1);
	if (!end || !frames->members)
		return -ENOMEM;
	/* start indices, which advance to end indices below */
	for (i = frames->image_count + 1; i > 0; i--) {
		count -= end[i - 1];
		end[i - 1] = count;
	}
	DEBUG_ASSERT(count == 0);
	for (f = frames->all; f; f = f->next)
		frames->members[end[f->image]++] = f;
	frames->end = end;
	return 0;
}

/* Sets the default text of a frame. */
static int frames_text(struct dump_frames *frames, struct dump_frames_one *f)
{
	const struct gnomon_frame *g = &f->frame;
	const char *word = g->symbol ? g->symbol : pathname_base(g->module);
	size_t n = strnlen(word, DUMP_NAME_MAX - FRAMES_OFFSET);

	/* a hook that calls back into the program has a frame, which is not the
	 * program's */
	if (g->address - frames->own_start < frames->own_size)
		f->edit = GNOMON_HIDE;
	if (g->symbol)
		n = strlen(word);	/* elf_names.c limits its length */
	f->room = n + (g->symbol ? 1 : FRAMES_OFFSET) + DUMP_EDIT_ROOM;
	f->name = scratch_alloc(frames->memory, f->room);
	if (!f->name)
		return -ENOMEM;
	if (g->symbol)
		memcpy(f->name, word, n);
	else
		snprintf(f->name, f->room, "%.*s%s0x%" PRIx64, (int)n, word,
			 n ? "+" : "", n ? g->module_offset : g->address);
	return 0;
}

int dump_frames_name(struct dump_frames *frames)
{
	struct dump_frames_one *f;
	size_t first;
	int err = 0;

	if (!frames->members)
		err = frames_group(frames);
	for (; !err && frames->named < frames->image_count; frames->named++) {
		uint32_t i = frames->named;

		first = frames->end[i];
		if (frames->end[i + 1] == first)
			continue;
		DEBUG_ASSERT(first < frames->end[i + 1]);
		frames->named++;
		err = frames_symbols(frames, i, frames->members + first,
				     frames->end[i + 1] - first);
		return err ? err : 1;
	}
	for (f = frames->all; f && !err; f = f->next)
		err = frames_text(frames, f);
	return err;
}
