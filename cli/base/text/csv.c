/*
 * csv.c: see csv.h. Each table is written by one thread.
 */
#include "cli/base/text/csv.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/text/utf8.h"

#define END "\r\n"		/* RFC 4180, 2. */

static void separate(struct csv *csv)
{
	if (csv->begun)
		putc_unlocked(',', csv->out);
	csv->begun = true;
}

void csv_end_line(struct csv *csv)
{
	fputs_unlocked(END, csv->out);
	csv->begun = false;
}

void csv_text(struct csv *csv, const char *text)
{
	separate(csv);
	if (text == NULL)
		return;
	buffer_clear(&csv->text);
	utf8_add(&csv->text, text);
	text = csv->text.data ? csv->text.data : "";
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs_unlocked(text, csv->out);
		return;
	}
	putc_unlocked('"', csv->out);
	for (; *text != 0; text++) {
		if (*text == '"')
			putc_unlocked('"', csv->out);
		putc_unlocked(*text, csv->out);
	}
	putc_unlocked('"', csv->out);
}

void csv_number(struct csv *csv, uint64_t value)
{
	separate(csv);
	fprintf(csv->out, "%" PRIu64, value);
}

void csv_free(struct csv *csv)
{
	buffer_free(&csv->text);
}

/* ---- names ---- */

static void put_name(void *owner, const char *name)
{
	struct csv *csv = owner;
	struct buffer whole = { 0 };

	buffer_printf(&whole, "%s%s", csv->prefix ? csv->prefix : "", name);
	csv_text(csv, whole.data);
	buffer_free(&whole);
}

static void name_of_text(void *owner, const char *name, const char *value)
{
	(void)value;
	put_name(owner, name);
}

static void name_of_number(void *owner, const char *name, uint64_t value)
{
	(void)value;
	put_name(owner, name);
}

static void name_of_flag(void *owner, const char *name, bool value)
{
	(void)value;
	put_name(owner, name);
}

struct members csv_names(struct csv *csv)
{
	return (struct members){
		name_of_text, name_of_number, name_of_flag, put_name, csv,
	};
}

/* ---- values ---- */

static void put_text(void *owner, const char *name, const char *value)
{
	(void)name;
	csv_text(owner, value);
}

static void put_number(void *owner, const char *name, uint64_t value)
{
	(void)name;
	csv_number(owner, value);
}

static void put_flag(void *owner, const char *name, bool value)
{
	(void)name;
	csv_text(owner, value ? "true" : "false");
}

static void put_none(void *owner, const char *name)
{
	(void)name;
	csv_text(owner, NULL);
}

struct members csv_values(struct csv *csv)
{
	return (struct members){
		put_text, put_number, put_flag, put_none, csv,
	};
}
