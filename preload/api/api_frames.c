/*
 * api_frames.c: see api_frames.h. The list of images is the recorder's own, so
 * the loader is not asked, and what it had unloaded still has its name; symbols
 * are read from the files (elf_names.h).
 *
 * I1: a context's parent is a smaller number, so every walk ends.
 */
#include "preload/api/api_frames.h"

#include <errno.h>
#include <string.h>

#include "preload/api/elf_names.h"
#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/interpose/real.h"
#include "unwind/context.h"

#define FRAMES_BUCKETS 65536
#define FRAMES_ROOM 256		/* for the editor, beyond the name */

static bool frames_has(const struct api_frames *frames, uint32_t context)
{
	return context >= GT_STOP_COUNT && context < frames->node_count;
}

int api_frames_begin(struct api_frames *frames)
{
	const struct gl_header *live = frames->r->live;

	/* pairs with the releases of those who made nodes and images */
	frames->node_count = atomic_load_explicit(&live->node_count,
						  memory_order_acquire);
	frames->image_count = base_min(
		atomic_load_explicit(&live->image_count, memory_order_acquire),
		GL_IMAGES_MAX);
	frames->buckets = scratch_alloc(frames->memory,
					FRAMES_BUCKETS *
						sizeof(*frames->buckets));
	frames->of_node = scratch_alloc(frames->memory,
					frames->node_count *
						sizeof(*frames->of_node));
	return frames->buckets && frames->of_node ? 0 : -ENOMEM;
}

static bool frames_in_time(const struct gl_image *image, uint32_t context)
{
	uint32_t end = atomic_load_explicit(&image->end_node,
					    memory_order_relaxed);

	return image->first_node <= context && (!end || context < end);
}

static bool frames_in_space(const struct gl_image *image, uint64_t address)
{
	unsigned i;

	for (i = 0; i < image->segments && i < GL_SEGMENTS_MAX; i++)
		if (address - image->segment[i].start < image->segment[i].size)
			return true;
	return false;
}

/* The image that an address meant in a context; NULL: none. */
static const struct gl_image *frames_image(const struct api_frames *frames,
					   uint64_t address, uint32_t context)
{
	const struct gl_header *live = frames->r->live;
	const struct gl_image *images = (const struct gl_image *)
		((const char *)live + live->images_offset);
	uint32_t i;

	for (i = 0; i < frames->image_count; i++)
		if (atomic_load_explicit(&images[i].state,
					 memory_order_acquire) == 1 &&
		    frames_in_time(&images[i], context) &&
		    frames_in_space(&images[i], address))
			return &images[i];
	return NULL;
}

static struct api_frame **frames_bucket(const struct api_frames *frames,
					uint64_t address)
{
	return &frames->buckets[(address * UINT64_C(0x9e3779b97f4a7c15)) >>
				48];
}

/* The frame of an address (of a call, not behind it), made if need be. */
static struct api_frame *frames_get(struct api_frames *frames,
				    uint64_t address, uint32_t context)
{
	struct api_frame **bucket = frames_bucket(frames, address);
	const struct gl_image *image;
	struct api_frame *f;

	for (f = *bucket; f; f = f->chain)
		if (f->frame.address == address && f->image &&
		    frames_in_time(f->image, context))
			return f;
	image = frames_image(frames, address, context);
	for (f = *bucket; f; f = f->chain)
		if (f->frame.address == address && f->image == image)
			return f;
	f = scratch_alloc(frames->memory, sizeof(*f));
	if (!f)
		return NULL;
	f->frame.address = address;
	f->image = image;
	f->chain = *bucket;
	f->next = frames->all;
	*bucket = frames->all = f;
	return f;
}

int api_frames_take(struct api_frames *frames, uint32_t context)
{
	while (frames_has(frames, context) && !frames->of_node[context]) {
		const struct gl_node *node = context_node(context);
		struct api_frame *f = frames_get(frames, node->address - 1,
						 context);

		if (!f)
			return -ENOMEM;
		frames->of_node[context] = f;
		if (node->parent >= context)
			break;	/* I1 */
		context = node->parent;
	}
	return 0;
}

struct api_frame *api_frames_caller(struct api_frames *frames, uintptr_t ra)
{
	return frames_get(frames, ra - 1, frames->node_count);
}

const struct api_frame *api_frames_step(const struct api_frames *frames,
					uint32_t *context)
{
	uint32_t at = *context;

	if (!frames_has(frames, at))
		return NULL;
	*context = context_node(at)->parent;
	if (*context >= at)
		*context = 0;	/* I1 */
	return frames->of_node[at];
}

bool api_frames_same(const struct api_frame *a, const struct api_frame *b)
{
	if (a->image != b->image)
		return false;
	return a->frame.symbol && b->frame.symbol ?
		       a->start == b->start :
		       a->frame.address == b->frame.address;
}

/* ---- names ---- */

/* Shell sort: there may be some ten thousand, in no order. */
static void frames_sort(struct elf_wanted *wanted, size_t count)
{
	size_t gap, i, j;

	for (gap = 1; gap < count / 3; gap = gap * 3 + 1)
		;
	for (; gap; gap /= 3)
		for (i = gap; i < count; i++) {
			struct elf_wanted w = wanted[i];

			for (j = i; j >= gap &&
				    wanted[j - gap].address > w.address;
			     j -= gap)
				wanted[j] = wanted[j - gap];
			wanted[j] = w;
		}
}

/* The program's own path; as it was called where nobody knows that. */
static const char *frames_program(const struct api_frames *frames)
{
	const char *executed = recorder_executed();
	char *path = scratch_alloc(frames->memory, GT_PATH_MAX);
	long n = -1;

	if (path && unwind_may(SECCOMP_NO_FILES))
		n = arch_syscall4(__NR_readlinkat, AT_FDCWD,
				  (long)"/proc/thread-self/exe", (long)path,
				  GT_PATH_MAX - 1);
	if (!sys_failed(n)) {
		path[n] = '\0';
		return path;
	}
	return executed ? executed : "";
}

/* The path that is shown. */
static const char *frames_path(const struct api_frames *frames,
			       const struct gl_image *image)
{
	if (image->flags & GT_IMAGE_VDSO)
		return "[vdso]";
	if (!image->path[0] && image->flags & GT_IMAGE_MAIN)
		return frames_program(frames);
	return image->path;
}

/* Symbols of all frames of one image. */
static int frames_symbols(struct api_frames *frames,
			  const struct gl_image *image,
			  struct api_frame *const *members, size_t count)
{
	struct elf_wanted *wanted = scratch_alloc(frames->memory,
						  count * sizeof(*wanted));
	bool named;
	size_t i;

	if (!wanted)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		wanted[i].address = members[i]->frame.address - image->bias;
		wanted[i].owner = i;
	}
	frames_sort(wanted, count);
	named = !(image->flags & GT_IMAGE_VDSO) &&
		(image->path[0] || image->flags & GT_IMAGE_MAIN) &&
		elf_names_find(image->path, image->build_id,
			       base_min(image->build_id_size,
					GL_BUILD_ID_MAX),
			       wanted, count, frames->memory);
	for (i = 0; i < count; i++) {
		struct api_frame *f = members[wanted[i].owner];

		f->frame.module = frames_path(frames, image);
		f->frame.module_offset = wanted[i].address;
		if (!named || !wanted[i].name)
			continue;
		f->frame.symbol = wanted[i].name;
		f->frame.symbol_offset = wanted[i].address - wanted[i].start;
		f->start = wanted[i].start;
	}
	return 0;
}

/* All frames, an image at a time: those of one are put one behind the other
 * first. */
static int frames_all_symbols(struct api_frames *frames)
{
	const struct gl_header *live = frames->r->live;
	const struct gl_image *images = (const struct gl_image *)
		((const char *)live + live->images_offset);
	size_t *first = scratch_alloc(frames->memory,
				      (frames->image_count + 1) *
					      sizeof(*first));
	struct api_frame **members, *f;
	size_t count = 0;
	uint32_t i;
	int err = 0;

	for (f = frames->all; f && first; f = f->next)
		if (f->image) {
			first[f->image - images + 1]++;
			count++;
		}
	members = scratch_alloc(frames->memory, count * sizeof(*members) + 1);
	if (!first || !members)
		return -ENOMEM;
	for (i = 0; i < frames->image_count; i++)
		first[i + 1] += first[i];
	for (f = frames->all; f; f = f->next)
		if (f->image)
			members[first[f->image - images]++] = f;
	/* each has moved to where the next began */
	for (i = 0, count = 0; i < frames->image_count && !err; i++) {
		if (first[i] > count)
			err = frames_symbols(frames, &images[i],
					     members + count,
					     first[i] - count);
		count = first[i];
	}
	return err;
}

static const char *frames_base(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

void api_frames_hex(struct text *text, uint64_t value)
{
	text_put(text, "0x");
	text_hex(text, value, value ? (67 - __builtin_clzll(value)) / 4 : 1);
}

/* What is shown where nothing else is wanted. */
static int frames_text(struct api_frames *frames, struct api_frame *f,
		       size_t *room)
{
	const struct gnomon_frame *g = &f->frame;
	const char *word = g->symbol ? g->symbol : frames_base(g->module);
	struct text text;

	/* a hook that jumps back has a frame; it is not the program's */
	if (g->address - real.own_start < real.own_size)
		f->edit = GNOMON_HIDE;
	*room = strlen(word) + sizeof("+0x0123456789abcdef") + FRAMES_ROOM;
	f->name = scratch_alloc(frames->memory, *room);
	if (!f->name)
		return -ENOMEM;
	text_init(&text, f->name, *room);
	text_put(&text, word);
	if (g->symbol)
		return 0;
	if (*word)
		text_char(&text, '+');
	api_frames_hex(&text, *word ? g->module_offset : g->address);
	return 0;
}

int api_frames_name(struct api_frames *frames, gnomon_editor edit, void *data)
{
	struct api_frame *f;
	int err;

	for (f = frames->all; f; f = f->next)
		f->frame.module = "";
	err = frames_all_symbols(frames);
	for (f = frames->all; f && !err; f = f->next) {
		size_t room;

		err = frames_text(frames, f, &room);
		if (!err && edit && f->edit != GNOMON_HIDE)
			f->edit = edit(data, &f->frame, f->name, room);
	}
	return err;
}
