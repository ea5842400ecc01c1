/*
 * api_dump.c: see api_dump.h.
 *
 *	rows ─▶ frames, named ─▶ a text for each row ─▶ equal texts added up
 *	     ─▶ sorted ─▶ printed
 *
 * What makes two stacks one is what is shown of them: names may be edited,
 * frames hidden, stacks cut.
 */
#include "preload/api/api_dump.h"

#include <errno.h>
#include <string.h>

#include "preload/api/api_frames.h"
#include "preload/base/text.h"

#define DUMP_BUCKETS 16384
#define DUMP_BUFFER 16384
#define DUMP_FIRST_DEPTH 512

/* What is shown of one stack or more. */
struct dump_stack {
	struct dump_stack *chain;
	const char *text;
	uint32_t length;
	uint32_t hash;
	uint64_t field[API_FIELDS];
};

struct dump_state {
	const struct api_dump *dump;
	struct api_frames frames;
	const struct api_frame *from;	/* GNOMON_HERE */
	struct dump_stack **buckets;
	size_t count;
	const struct api_frame **path;	/* innermost first */
	size_t path_max;
	unsigned sort;			/* index of a field */
	struct text out;
	char buffer[DUMP_BUFFER];
	int err;
};

static const char *const dump_words[API_FIELDS] = { "count", "total", "live",
						    "peak", "blocks" };

int api_dump_how(struct gnomon_dump *to, const struct gnomon_dump *how)
{
	unsigned i;

	*to = how ? *how : (struct gnomon_dump){ 0 };
	if (!to->fields)
		to->fields = GNOMON_LIVE;
	if (!to->sort)
		to->sort = to->fields & -to->fields;
	if (!to->least)
		to->least = 1;
	if (!to->prefix)
		to->prefix = "";
	if (!to->between_frames)
		to->between_frames = ";";
	if (!to->before_numbers)
		to->before_numbers = " ";
	if (!to->between_numbers)
		to->between_numbers = " ";
	for (i = 0; i < sizeof(to->reserved) / sizeof(*to->reserved); i++)
		if (to->reserved[i])
			return -EINVAL;
	return to->form > GNOMON_DETAIL || to->fields >> API_FIELDS ||
			       to->sort >> API_FIELDS ||
			       to->sort & (to->sort - 1) ?
		       -EINVAL : 0;
}

/* ---- from stacks to texts ---- */

static int dump_path_grow(struct dump_state *d)
{
	size_t max = d->path_max ? 2 * d->path_max : DUMP_FIRST_DEPTH;
	const struct api_frame **path =
		scratch_alloc(d->dump->memory, max * sizeof(*path));

	if (!path)
		return -ENOMEM;
	if (d->path)
		memcpy(path, d->path, d->path_max * sizeof(*path));
	d->path = path;
	d->path_max = max;
	return 0;
}

static bool dump_is_from(const struct dump_state *d,
			 const struct api_frame *f)
{
	const char *from = d->dump->how.from;

	if (d->from)
		return api_frames_same(f, d->from);
	return strcmp(f->name, from) == 0 ||
	       (f->frame.symbol && strcmp(f->frame.symbol, from) == 0);
}

/*
 * The frames that are shown of a context into d->path; how many, or an error.
 * The outermost function that is the one to begin with counts, and of those
 * after which to cut, too.
 */
static long dump_path(struct dump_state *d, uint32_t context)
{
	const struct api_frame *f;
	size_t n = 0, first = 0, end = 0, i, kept = 0;

	while ((f = api_frames_step(&d->frames, &context)) != NULL) {
		if (n == d->path_max && dump_path_grow(d))
			return -ENOMEM;
		d->path[n++] = f;
		if (d->dump->how.from && dump_is_from(d, f))
			end = n;
	}
	if (!d->dump->how.from)
		end = n;
	for (i = 0; i < end; i++)
		if (d->path[i]->edit == GNOMON_CUT)
			first = i;
	for (i = first; i < end; i++)
		if (d->path[i]->edit != GNOMON_HIDE)
			d->path[kept++] = d->path[i];
	return kept;
}

static size_t dump_frame_size(const struct dump_state *d,
			      const struct api_frame *f)
{
	/* what stands around names and numbers in a line of details */
	return strlen(f->name) + strlen(d->dump->how.between_frames) +
	       (d->dump->how.form == GNOMON_DETAIL ?
			strlen(f->frame.module) + 128 : 0);
}

static void dump_detail(struct text *text, const struct api_frame *f, size_t i)
{
	const struct gnomon_frame *g = &f->frame;

	text_put(text, "\t#");
	text_number(text, i);
	text_char(text, ' ');
	api_frames_hex(text, g->address);
	text_char(text, ' ');
	text_put(text, f->name);
	if (g->symbol) {
		text_char(text, '+');
		api_frames_hex(text, g->symbol_offset);
	}
	if (*g->module) {
		text_put(text, " (");
		text_put(text, g->module);
		text_char(text, '+');
		api_frames_hex(text, g->module_offset);
		text_char(text, ')');
	}
	text_char(text, '\n');
}

/* The text of the frames in d->path. */
static int dump_text(struct dump_state *d, size_t depth, struct text *text)
{
	const struct gnomon_dump *how = &d->dump->how;
	size_t size = strlen(how->prefix) + 1, i;
	char *room;

	for (i = 0; i < depth; i++)
		size += dump_frame_size(d, d->path[i]);
	room = scratch_alloc(d->dump->memory, size);
	if (!room)
		return -ENOMEM;
	text_init(text, room, size);
	if (how->form == GNOMON_DETAIL) {
		for (i = 0; i < depth; i++)
			dump_detail(text, d->path[i], i);
		return 0;
	}
	text_put(text, how->prefix);
	for (i = depth; i > 0; i--) {
		text_put(text, d->path[i - 1]->name);
		if (i > 1)
			text_put(text, how->between_frames);
	}
	return 0;
}

static uint32_t dump_hash(const struct text *text)
{
	uint64_t h = text->length;
	size_t i;

	for (i = 0; i < text->length; i++)
		h = (h ^ (uint8_t)text->data[i]) * UINT64_C(0x100000001b3);
	return h >> 32 ^ h;
}

static int dump_add(struct dump_state *d, const struct text *text,
		    const struct api_row *row)
{
	uint32_t hash = dump_hash(text);
	struct dump_stack **bucket = &d->buckets[hash % DUMP_BUCKETS], *s;
	unsigned i;

	for (s = *bucket; s; s = s->chain)
		if (s->hash == hash && s->length == text->length &&
		    memcmp(s->text, text->data, text->length) == 0)
			break;
	if (!s) {
		s = scratch_alloc(d->dump->memory, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->hash = hash;
		s->length = text->length;
		s->text = text->data;
		s->chain = *bucket;
		*bucket = s;
		d->count++;
	}
	for (i = 0; i < API_FIELDS; i++)
		s->field[i] += row->field[i];
	return 0;
}

static int dump_row(struct dump_state *d, const struct api_row *row)
{
	struct text text;
	long depth = dump_path(d, row->context);

	if (depth < 0)
		return depth;
	if (!depth && d->dump->how.from)
		return 0;
	if (dump_text(d, depth, &text))
		return -ENOMEM;
	return dump_add(d, &text, row);
}

/* ---- in order ---- */

static bool dump_before(const struct dump_state *d,
			const struct dump_stack *a, const struct dump_stack *b)
{
	if (a->field[d->sort] != b->field[d->sort])
		return a->field[d->sort] > b->field[d->sort];
	return strcmp(a->text, b->text) < 0;
}

static void dump_sort(const struct dump_state *d, struct dump_stack **s,
		      size_t count)
{
	size_t gap, i, j;

	for (gap = 1; gap < count / 3; gap = gap * 3 + 1)
		;
	for (; gap; gap /= 3)
		for (i = gap; i < count; i++) {
			struct dump_stack *one = s[i];

			for (j = i; j >= gap && dump_before(d, one, s[j - gap]);
			     j -= gap)
				s[j] = s[j - gap];
			s[j] = one;
		}
}

static struct dump_stack **dump_list(struct dump_state *d)
{
	struct dump_stack **list =
		scratch_alloc(d->dump->memory, d->count * sizeof(*list) + 1);
	struct dump_stack *s;
	size_t n = 0, i;

	if (!list)
		return NULL;
	for (i = 0; i < DUMP_BUCKETS; i++)
		for (s = d->buckets[i]; s; s = s->chain)
			if (s->field[d->sort] >= d->dump->how.least)
				list[n++] = s;
	d->count = n;
	dump_sort(d, list, n);
	return list;
}

/* ---- out ---- */

static void dump_flush(struct dump_state *d)
{
	if (!d->err && d->out.length)
		d->err = d->dump->write(d->dump->data, d->buffer,
					d->out.length);
	text_init(&d->out, d->buffer, sizeof(d->buffer));
}

static void dump_put(struct dump_state *d, const char *s, size_t n)
{
	if (n >= d->out.size - d->out.length)
		dump_flush(d);
	if (n < d->out.size)
		text_bytes(&d->out, s, n);
	else if (!d->err)
		d->err = d->dump->write(d->dump->data, s, n);
}

static void dump_number(struct dump_state *d, uint64_t value)
{
	char buffer[24];
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	text_number(&text, value);
	dump_put(d, buffer, text.length);
}

/* In the order of the bits; with words in a line of details. */
static void dump_numbers(struct dump_state *d, const struct dump_stack *s)
{
	const struct gnomon_dump *how = &d->dump->how;
	bool detail = how->form == GNOMON_DETAIL, first = true;
	const char *between = detail ? " " : how->between_numbers;
	unsigned i;

	for (i = 0; i < API_FIELDS; i++) {
		if (!(how->fields >> i & 1))
			continue;
		if (!first)
			dump_put(d, between, strlen(between));
		if (detail) {
			dump_put(d, dump_words[i], strlen(dump_words[i]));
			dump_put(d, " ", 1);
		}
		dump_number(d, s->field[i]);
		first = false;
	}
}

static void dump_stack_put(struct dump_state *d, const struct dump_stack *s)
{
	const char *before = d->dump->how.before_numbers;

	if (d->dump->how.form == GNOMON_DETAIL) {
		dump_numbers(d, s);
		dump_put(d, "\n", 1);
		dump_put(d, s->text, s->length);
	} else {
		dump_put(d, s->text, s->length);
		dump_put(d, before, strlen(before));
		dump_numbers(d, s);
		dump_put(d, "\n", 1);
	}
}

static int dump_print(struct dump_state *d)
{
	struct dump_stack **list = dump_list(d);
	size_t most = d->dump->how.most, i;

	if (!list)
		return -ENOMEM;
	if (!most || most > d->count)
		most = d->count;
	text_init(&d->out, d->buffer, sizeof(d->buffer));
	for (i = 0; i < most && !d->err; i++)
		dump_stack_put(d, list[i]);
	dump_flush(d);
	return d->err ? d->err : (int)most;
}

static int dump_take(struct dump_state *d, const struct api_row *rows,
		     size_t count)
{
	const struct gnomon_dump *how = &d->dump->how;
	int err = api_frames_begin(&d->frames);
	size_t i;

	for (i = 0; i < count && !err; i++)
		err = api_frames_take(&d->frames, rows[i].context);
	if (!err && how->from == GNOMON_HERE) {
		d->from = api_frames_caller(&d->frames, d->dump->caller);
		err = d->from ? 0 : -ENOMEM;
	}
	return err ? err : api_frames_name(&d->frames, how->edit,
					   how->edit_data);
}

int api_dump_rows(const struct api_dump *dump, const struct api_row *rows,
		  size_t count)
{
	struct dump_state *d = scratch_alloc(dump->memory, sizeof(*d));
	size_t i;
	int err;

	if (!d)
		return -ENOMEM;
	d->dump = dump;
	d->frames.r = dump->r;
	d->frames.memory = dump->memory;
	d->sort = __builtin_ctz(dump->how.sort);
	d->buckets = scratch_alloc(dump->memory,
				   DUMP_BUCKETS * sizeof(*d->buckets));
	err = d->buckets ? dump_take(d, rows, count) : -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = dump_row(d, &rows[i]);
	return err ? err : dump_print(d);
}
