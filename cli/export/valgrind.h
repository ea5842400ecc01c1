/*
 * valgrind.h: common parts of the formats of Valgrind's tools.
 */
#ifndef GNOMON_VALGRIND_H
#define GNOMON_VALGRIND_H

#include "cli/command/export.h"

/*
 * A frame as Valgrind writes it, "0xADDRESS: FUNCTION (FILE:LINE)" or "(in
 * LIBRARY)", in one line, since readers parse it. For a missing frame, the text
 * that says why. Valid until the next call with this buffer.
 */
const char *valgrind_frame(struct buffer *text,
			   const struct profile_frame *frame);
/* The command line in one line; "unknown" if the trace lacks it. */
void valgrind_command(struct buffer *text, const struct export *export);
/* Version and filters in one line. */
void valgrind_about(struct buffer *text, const struct export *export);

#endif
