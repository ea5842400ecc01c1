/*
 * csv.h: writes CSV tables for spreadsheets and databases: RFC 4180, UTF-8; the
 * first line has the column names.
 */
#ifndef GNOMON_CSV_H
#define GNOMON_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"
#include "cli/base/text/members.h"

struct csv {
	FILE *out;		/* borrowed; the rest begins with zeros */
	struct buffer text;	/* the current field */
	bool begun;		/* the line has a field */
	const char *prefix;	/* of names that csv_names writes; or NULL */
};

/* Quotes the text if needed; NULL: an empty field. */
void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, uint64_t value);
void csv_end_line(struct csv *csv);
void csv_free(struct csv *csv);

/* Write the members' names as fields, for the first line; and their values. */
struct members csv_names(struct csv *csv);
struct members csv_values(struct csv *csv);

#endif
