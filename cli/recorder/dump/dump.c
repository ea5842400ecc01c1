/*
 * dump.c: see dump.h.
 *
 *	BEGIN ─▶ TAKING ─▶ NAMING ─▶ EDITING ─▶ ADDING ─▶ TELLING
 *	 numbers  frames    symbols   by the     texts     lines
 *		  of rows   by image  program    of rows
 *
 * A dump that the program abandons stays until the next one, or the end.
 *
 * I1: frames from the program's editor are matched to the frames sent: only the
 *     edit code and the name are read back, and the name within its room.
 */
#include "cli/recorder/dump/dump.h"

#include <errno.h>
#include <string.h>

#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "cli/recorder/dump/dump_stacks.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

#define DUMP_MEMORY (UINT64_C(1) << 30)
#define DUMP_ROWS 1024		/* handled in one step */

enum dump_phase {
	DUMP_NONE, DUMP_TAKING, DUMP_NAMING, DUMP_EDITING, DUMP_ADDING,
	DUMP_TELLING
};

struct dump {
	enum dump_phase phase;
	struct scratch memory;
	struct dump_how how;
	struct dump_frames frames;
	struct dump_stacks stacks;
	struct dump_row *rows;
	size_t row_count, row;		/* the next one */
	struct dump_frames_one *edited, *next;	/* frames sent: first, and first
						 * after them */
};

static void dump_end(struct dump *d)
{
	scratch_end(&d->memory);
	memset(d, 0, sizeof(*d));
}

static int dump_take_rows(struct dump *d, const struct block_table *table)
{
	uint32_t i;

	d->rows =
		scratch_alloc(&d->memory, (table->figure_count + UINT64_C(1)) *
						  sizeof(*d->rows));
	for (i = 1; d->rows && i <= table->figure_count; i++) {
		const struct block_table_figure f =
			block_table_rounded_figure(table, i);

		if (f.sum.blocks)
			d->rows[d->row_count++] = (struct dump_row){
				f.context, { f.sum.blocks, f.sum.bytes,
					     f.sum.bytes - f.sum.freed,
					     f.sum.peak_bytes,
					     f.sum.blocks - f.sum.frees }
			};
	}
	return d->rows ? 0 : -ENOMEM;
}

static long dump_begin(struct dump *d, struct recorder *rec,
		       const struct gl_request *request)
{
	int err;

	dump_end(d);
	d->memory.limit = DUMP_MEMORY;
	if (request->bytes < sizeof(d->how.options))
		return -EINVAL;
	memcpy(&d->how.options, request->data, sizeof(d->how.options));
	err = dump_how_complete(&d->how);
	if (!err)
		err = tracker_settle(rec, d->how.options.nested);
	if (!err)
		err = dump_take_rows(d, &rec->tracker.table);
	if (err)
		return err;
	emit_image_flush(&rec->images);
	d->frames = (struct dump_frames){
		.images = &rec->images, .nodes = rec->nodes.cut.whole,
		.node_count = rec->nodes.limit, .memory = &d->memory,
		.own_start = d->how.options.own_start,
		.own_size = d->how.options.own_size,
	};
	d->stacks = (struct dump_stacks){
		.how = &d->how, .frames = &d->frames, .memory = &d->memory,
	};
	d->phase = DUMP_TAKING;
	err = dump_frames_begin(&d->frames);
	return err ? err : dump_stacks_begin(&d->stacks);
}

/* Adds a piece of a word; pieces of unknown words are refused. */
static long dump_word(struct dump *d, const struct gl_request *request)
{
	uint64_t which = request->arg[0];
	const char *old;
	size_t length;
	char *word;

	if (d->phase != DUMP_TAKING || which >= DUMP_WORDS ||
	    !(d->how.options.words >> which & 1))
		return -EINVAL;
	old = d->how.word[which];
	length = strlen(old);
	word = scratch_alloc(&d->memory, length + request->bytes + 1);
	if (!word)
		return -ENOMEM;
	memcpy(word, old, length);
	memcpy(word + length, request->data, request->bytes);
	d->how.word[which] = word;
	return 0;
}

/* ---- steps ---- */

static long dump_take(struct dump *d)
{
	size_t end = base_min(d->row_count, d->row + DUMP_ROWS);
	int err = 0;

	for (; d->row < end && !err; d->row++)
		err = dump_frames_take(&d->frames, d->rows[d->row].context);
	if (err || d->row < d->row_count)
		return err;
	d->phase = DUMP_NAMING;
	d->row = 0;
	if (!d->how.options.here)
		return 0;
	d->stacks.from = dump_frames_caller(&d->frames, d->how.options.caller);
	return d->stacks.from ? 0 : -ENOMEM;
}

static long dump_name(struct dump *d)
{
	int more = dump_frames_name(&d->frames);

	if (more)
		return base_min(more, 0);
	d->edited = d->next = d->frames.all;
	d->phase = d->how.options.edits ? DUMP_EDITING : DUMP_ADDING;
	return 0;
}

static bool dump_is_edited(const struct dump_frames_one *f)
{
	return f->edit != GNOMON_HIDE;
}

/* Bytes of a frame in a part. */
static size_t dump_frame_bytes(const struct dump_frames_one *f)
{
	return base_round_up(sizeof(struct dump_frame) +
				     strlen(f->frame.module) + 1 + f->room, 8);
}

static void dump_send_frame(const struct dump_frames_one *f,
			    struct dump_frame *to)
{
	const struct gnomon_frame *g = &f->frame;

	*to = (struct dump_frame){
		.address = g->address, .module_offset = g->module_offset,
		.symbol_offset = g->symbol_offset,
		.bytes = dump_frame_bytes(f), .name = strlen(g->module) + 1,
		.room = f->room, .named = g->symbol != NULL,
	};
	DEBUG_ASSERT(to->bytes % 8 == 0 &&
		     sizeof(*to) + to->name + to->room <= to->bytes);
	memcpy(to->text, g->module, to->name);
	memcpy(to->text + to->name, f->name, f->room);
}

/* I1 */
static void dump_get_frame(struct dump_frames_one *f,
			   const struct dump_frame *from)
{
	size_t name = strlen(f->frame.module) + 1;

	f->edit = from->edit;	/* invalid values have no effect */
	memcpy(f->name, from->text + name, f->room);
	f->name[f->room - 1] = '\0';
}

static long dump_edit(struct dump *d, struct dump_reply *part)
{
	struct dump_frames_one *f;
	size_t at = 0, bytes;

	for (f = d->edited; f != d->next; f = f->next) {
		if (!dump_is_edited(f))
			continue;
		/* the editor may hide it, so the size is taken first */
		bytes = dump_frame_bytes(f);
		DEBUG_ASSERT(at + bytes <= sizeof(part->data));
		dump_get_frame(f, (struct dump_frame *)(part->data + at));
		at += bytes;
	}
	part->count = 0;
	d->edited = d->next;
	for (f = d->next, at = 0; f; f = f->next) {
		if (!dump_is_edited(f))
			continue;
		bytes = dump_frame_bytes(f);
		if (bytes > sizeof(part->data) - at)
			break;
		DEBUG_ASSERT(at + bytes <= sizeof(part->data));
		dump_send_frame(f, (struct dump_frame *)(part->data + at));
		at += bytes;
		part->count++;
	}
	d->next = f;
	if (!part->count)
		d->phase = DUMP_ADDING;
	return part->count ? DUMP_FRAMES : DUMP_BUSY;
}

static long dump_add(struct dump *d)
{
	size_t end = base_min(d->row_count, d->row + DUMP_ROWS);
	int err = 0;

	DEBUG_ASSERT(d->row <= end);
	for (; d->row < end && !err; d->row++)
		err = dump_stacks_add(&d->stacks, &d->rows[d->row]);
	if (err || d->row < d->row_count)
		return err;
	d->phase = DUMP_TELLING;
	return dump_stacks_sort(&d->stacks);
}

static long dump_report(struct dump *d, struct dump_reply *part)
{
	part->line_max = d->stacks.line_max;
	part->count = dump_stacks_lines(&d->stacks, part->data,
					sizeof(part->data));
	DEBUG_ASSERT(part->count <= sizeof(part->data));
	if (part->count)
		return DUMP_LINES;
	part->count = d->stacks.count;
	return DUMP_END;
}

static long dump_go(struct dump *d, struct gl_request *request)
{
	struct dump_reply *part = (struct dump_reply *)request->data;

	if (request->bytes < sizeof(*part))
		return -EINVAL;
	switch (d->phase) {
	case DUMP_NONE:
		break;
	case DUMP_TAKING:
		return dump_take(d);
	case DUMP_NAMING:
		return dump_name(d);
	case DUMP_EDITING:
		return dump_edit(d, part);
	case DUMP_ADDING:
		return dump_add(d);
	case DUMP_TELLING:
		return dump_report(d, part);
	}
	/* a child forked in the program's editor has no dump of its own */
	return -ENODEV;
}

static long dump_step(struct dump *d, struct recorder *rec,
		      struct gl_request *request)
{
	switch (request->number) {
	case DUMP_BEGIN:
		return dump_begin(d, rec, request);
	case DUMP_WORD:
		return dump_word(d, request);
	case DUMP_GO:
		return dump_go(d, request);
	case DUMP_STOP:
		dump_end(d);
		return 0;
	}
	return -EINVAL;
}

long dump_serve(struct recorder *rec, struct gl_request *request)
{
	static struct dump dump;
	long result = dump_step(&dump, rec, request);

	if (result < 0)
		dump_end(&dump);
	return result;
}
