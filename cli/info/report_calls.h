/*
 * report_calls.h: a stack in a line, for lists in which stacks are secondary:
 * "allocate < parse_file < main".
 */
#ifndef GNOMON_REPORT_CALLS_H
#define GNOMON_REPORT_CALLS_H

#include <stdint.h>
#include <stdio.h>

#include "cli/stack/frames.h"

/* The stack of a context, innermost function first, in at most `width` columns
 * if that is not 0: as many of its functions as fit, " < ..." where there are
 * more. No line's end. */
void report_calls(struct frames *frames, uint32_t node, size_t width,
		  FILE *out);

#endif
