/*
 * list_csv.c: contexts, or blocks, as a table for spreadsheets and databases:
 * RFC 4180, UTF-8, the first line has the names of the columns. See list.h.
 *
 * A stack is one field: names of functions, innermost first, with ';' between
 * them; within a name, ';' is written "\;" and '\' is written "\\". The
 * innermost frame of the program's own code has columns of its own.
 */
#include "cli/export/list/list.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/status.h"
#include "cli/base/text/utf8.h"
#include "cli/export/exporters.h"

#define END "\r\n"		/* RFC 4180, 2. */

struct writing {
	struct export *export;
	FILE *out;
	struct buffer text;	/* of a field */
	struct buffer name;
	bool begun;		/* the line has a field */
};

/* ---- fields ---- */

static void separate(struct writing *writing)
{
	if (writing->begun)
		putc_unlocked(',', writing->out);
	writing->begun = true;
}

static void end_line(struct writing *writing)
{
	fputs_unlocked(END, writing->out);
	writing->begun = false;
}

/* Quoted where it must be; NULL: an empty field. */
static void put_text(struct writing *writing, const char *text)
{
	separate(writing);
	if (text == NULL)
		return;
	buffer_clear(&writing->text);
	utf8_add(&writing->text, text);
	text = writing->text.data ? writing->text.data : "";
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs_unlocked(text, writing->out);
		return;
	}
	putc_unlocked('"', writing->out);
	for (; *text != 0; text++) {
		if (*text == '"')
			putc_unlocked('"', writing->out);
		putc_unlocked(*text, writing->out);
	}
	putc_unlocked('"', writing->out);
}

static void put_uint(struct writing *writing, uint64_t value)
{
	separate(writing);
	fprintf(writing->out, "%" PRIu64, value);
}

static void put_heads(struct writing *writing, const char *const *names)
{
	for (; *names != NULL; names++)
		put_text(writing, *names);
}

/* ---- contexts ---- */

static void put_name(void *owner, const char *name, uint64_t value)
{
	(void)value;
	put_text(owner, name);
}

static void put_figure(void *owner, const char *name, uint64_t value)
{
	(void)name;
	put_uint(owner, value);
}

static void put_site(struct writing *writing, const struct frames *frames)
{
	static const struct frame nothing;
	const struct frame *site = frames->count == 0 ? &nothing :
		&frames->list[frames->site];

	put_text(writing, frames->count == 0 ? NULL :
		 export_frame_name(&writing->name, site));
	put_text(writing, site->file);
	put_uint(writing, site->line);
	put_text(writing, site->library);
}

static void put_stack(struct writing *writing, const struct frames *frames)
{
	struct buffer stack = { 0 };

	for (size_t i = 0; i < frames->count; i++) {
		const char *name = export_frame_name(&writing->name,
						     &frames->list[i]);

		if (i > 0)
			buffer_string(&stack, ";");
		while (*name != 0) {
			size_t plain = strcspn(name, ";\\");

			buffer_add(&stack, name, plain);
			name += plain;
			if (*name == 0)
				break;
			buffer_string(&stack, "\\");
			buffer_add(&stack, name++, 1);
		}
	}
	put_text(writing, stack.data);
	put_text(writing, frames_stop_text(frames->stop));
	buffer_free(&stack);
}

static void write_context(void *owner, uint32_t node,
			  const struct figures *figures)
{
	struct writing *writing = owner;
	struct export *export = writing->export;

	put_uint(writing, node);
	figures_each(figures, model_duration_ns(export->model), put_figure,
		     writing);
	frames_of(export->frames, node);
	put_site(writing, export->frames);
	put_stack(writing, export->frames);
	end_line(writing);
}

static void write_contexts(struct writing *writing)
{
	static const char *const after[] = {
		"function", "file", "line", "library", "stack", "stopped", NULL
	};
	const struct figures nothing = { 0 };

	put_text(writing, "context");
	figures_each(&nothing, 0, put_name, writing);
	put_heads(writing, after);
	end_line(writing);
	list_contexts(writing->export, write_context, writing);
}

/* ---- blocks ---- */

static void write_block(void *owner, const struct list_block *block)
{
	struct writing *writing = owner;

	put_uint(writing, block->address);
	put_uint(writing, block->size);
	put_uint(writing, block->thread->tid);
	put_text(writing, threads_name(block->thread));
	put_uint(writing, block->birth_ns);
	if (block->end_ns == LIST_NOT_ENDED)
		put_text(writing, NULL);
	else
		put_uint(writing, block->end_ns);
	put_text(writing, block->fate);
	put_uint(writing, block->temporary);
	put_uint(writing, block->context);
	end_line(writing);
}

static int write_blocks(struct writing *writing)
{
	static const char *const heads[] = {
		"address", "size", "tid", "thread", "time_ns", "end_ns",
		"fate", "temporary", "context", NULL
	};

	put_heads(writing, heads);
	end_line(writing);
	return list_blocks(writing->export, write_block, writing);
}

static int write_csv(struct export *export)
{
	struct writing writing = { .export = export, .out = export->out };
	int status = EXIT_COMPLETE;

	if (export->blocks)
		status = write_blocks(&writing);
	else
		write_contexts(&writing);
	buffer_free(&writing.text);
	buffer_free(&writing.name);
	return status;
}

const struct exporter export_csv = {
	.name = "csv",
	.what = "a table of contexts or blocks: sqlite3, spreadsheets",
	.can_list_blocks = true,
	.write = write_csv,
};
