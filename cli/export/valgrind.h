/*
 * valgrind.h: what the formats of Valgrind's tools have in common.
 */
#ifndef GNOMON_VALGRIND_H
#define GNOMON_VALGRIND_H

#include "cli/command/export.h"

/*
 * A frame as Valgrind writes it, "0xADDRESS: FUNCTION (FILE:LINE)" or
 * "(in LIBRARY)", in one line: readers take it apart again. In place of a
 * frame that is missing, the words for it. Valid until the next call with
 * this buffer.
 */
const char *valgrind_frame(struct buffer *text,
			   const struct profile_frame *frame);
/* The command line in one line; "unknown" where nobody knows. */
void valgrind_command(struct buffer *text, const struct export *export);
/* Version, filters: in one line. */
void valgrind_about(struct buffer *text, const struct export *export);

#endif
