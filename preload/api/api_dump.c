/*
 * api_dump.c: gnomon_dump, gnomon_dump_to. The recorder makes the dump
 * (dump_request.h); this file only calls the program's callbacks, which edit
 * frames and take the text. Threads of the target, outside of hooks.
 */
#include <errno.h>
#include <string.h>

#include "preload/api/api.h"
#include "preload/api/api_init.h"
#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/request.h"
#include "preload/ring/dump_request.h"
#include "preload/ring/blocks_request.h"

struct dump {
	struct producer *p;
	const struct gnomon_dump *how;
	gnomon_writer write;
	void *data;
	char *line;		/* mapped once the longest line is known */
	uint64_t line_size, line_used;
	char symbol[DUMP_NAME_MAX];
	struct dump_reply part;
};

static long dump_request(struct dump *d, enum dump_step step, long arg,
			 const void *data, uint32_t bytes)
{
	const struct request_args args = {
		.what = REQUEST_DUMP, .number = step, .arg = { arg },
		.data = data, .bytes = bytes,
		.back = step == DUMP_GO ? &d->part : NULL,
	};
	long result;

	return request_make(d->p, &args, &result) ? result : -ETIMEDOUT;
}

static long dump_word(struct dump *d, enum dump_word which, const char *word)
{
	size_t left = word ? strlen(word) : 0, n;
	long err = 0;

	for (; left && !err; word += n, left -= n) {
		n = base_min(left, GL_REQUEST_ROOM);
		err = dump_request(d, DUMP_WORD, which, word, n);
	}
	return err;
}

static long dump_begin(struct dump *d, uintptr_t caller)
{
	const struct gnomon_dump *how = d->how;
	bool here = how->from == GNOMON_HERE;
	const char *const word[DUMP_WORDS] = {
		[DUMP_PREFIX] = how->prefix,
		[DUMP_BETWEEN_FRAMES] = how->between_frames,
		[DUMP_BEFORE_NUMBERS] = how->before_numbers,
		[DUMP_BETWEEN_NUMBERS] = how->between_numbers,
		[DUMP_FROM] = here ? NULL : how->from,
	};
	struct dump_options options = {
		.form = how->form, .fields = how->fields, .sort = how->sort,
		.most = how->most, .least = how->least,
		.here = here, .caller = caller,
		.own_start = real.own_start, .own_size = real.own_size,
		.edits = how->edit != NULL, .nested = blocks_nested(),
	};
	unsigned i;
	long err;

	for (i = 0; i < sizeof(how->reserved) / sizeof(*how->reserved); i++)
		if (how->reserved[i])
			return -EINVAL;
	for (i = 0; i < DUMP_WORDS; i++)
		options.words |= (uint32_t)(word[i] != NULL) << i;
	err = dump_request(d, DUMP_BEGIN, 0, &options, sizeof(options));
	for (i = 0; i < DUMP_WORDS && !err; i++)
		err = dump_word(d, i, word[i]);
	return err;
}

static void dump_edit(struct dump *d)
{
	const struct gnomon_dump *how = d->how;
	char *at = d->part.data;
	uint32_t i;

	for (i = 0; i < d->part.count; i++) {
		struct dump_frame *f = (struct dump_frame *)at;
		char *name = f->text + f->name;
		struct gnomon_frame frame = {
			.address = f->address,
			.module = f->text,
			.module_offset = f->module_offset,
			.symbol = f->named ? d->symbol : NULL,
			.symbol_offset = f->symbol_offset,
		};

		if (f->named)
			memcpy(d->symbol, name, strlen(name) + 1);
		f->edit = how->edit(how->edit_data, &frame, name, f->room);
		at += f->bytes;
	}
}

/* Passes the lines of a part on, once the last line is complete. */
static long dump_lines(struct dump *d)
{
	const struct dump_reply *part = &d->part;
	uint64_t size = part->line_max + sizeof(part->data), used;

	if (!d->line) {
		d->line = sys_map_pages(size);
		d->line_size = size;
		if (!d->line)
			return -ENOMEM;
	}
	memcpy(d->line + d->line_used, part->data, part->count);
	used = d->line_used += part->count;
	if (d->line[used - 1] != '\n')
		return 0;
	d->line_used = 0;
	return d->write(d->data, d->line, used);
}

/* Returns the number of stacks, or an error. */
static long dump_go(struct dump *d)
{
	long err = 0;

	while (!err) {
		switch (err = dump_request(d, DUMP_GO, 0, &d->part,
					   sizeof(d->part))) {
		case DUMP_BUSY:
			break;
		case DUMP_FRAMES:
			dump_edit(d);
			err = 0;
			break;
		case DUMP_LINES:
			err = dump_lines(d);
			break;
		case DUMP_END:
			return d->part.count;
		}
	}
	return err;
}

static long dump_make(struct dump *d, uintptr_t caller)
{
	long result;

	blocks_want(d->p, BLOCKS_FOR_API);
	result = dump_begin(d, caller);
	if (!result)
		result = dump_go(d);
	dump_request(d, DUMP_STOP, 0, NULL, 0);
	if (d->line)
		sys_munmap(d->line, d->line_size);
	return result;
}

static int dump_run(const struct gnomon_dump *how, gnomon_writer write,
		    void *data, uintptr_t caller)
{
	static const struct gnomon_dump all;
	uint32_t busy = 0;
	struct dump *d;
	int err = api_may_request();

	if (!err && !unwind_may(UNWIND_NO_FILES))
		err = -EPERM;
	if (!err && !atomic_compare_exchange_strong_explicit(
			    api_dumps, &busy, 1, memory_order_acquire,
			    memory_order_relaxed))
		err = -EBUSY;
	if (err)
		return err;
	d = sys_map_pages(sizeof(*d));
	err = -ENOMEM;
	if (d) {
		d->p = producer;
		d->how = how ? how : &all;
		d->write = write;
		d->data = data;
		err = dump_make(d, caller);
		sys_munmap(d, sizeof(*d));
	}
	atomic_store_explicit(api_dumps, 0, memory_order_release);
	return err;
}

/* Writes all of the text; 0 or an error. */
static int dump_write(void *data, const char *text, size_t size)
{
	int fd = *(int *)data;

	while (size) {
		long n = sys_write(fd, text, size);

		if (n <= 0)
			return n ? n : -EIO;
		text += n;
		size -= n;
	}
	return 0;
}

API(int, dump, (const struct gnomon_dump *how, int fd))
{
	return dump_run(how, dump_write, &fd, ARCH_CALLER_RA);
}

API(int, dump_to,
    (const struct gnomon_dump *how, gnomon_writer write, void *data))
{
	if (!write)
		return -EINVAL;
	return dump_run(how, write, data, ARCH_CALLER_RA);
}
