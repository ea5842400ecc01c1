/*
 * glue.h: functions that allocate for others, by which no site is told.
 */
#ifndef GNOMON_GLUE_H
#define GNOMON_GLUE_H

#include <stdbool.h>

/*
 * Glue are: functions in the C and C++ run-time libraries; those of the
 * language's own namespaces, which templates put into the user's binary
 * (std::vector's way to operator new, Rust's alloc::); plain wrappers of
 * malloc, by their names. Either may be NULL: not known.
 */
bool glue_is(const char *library, const char *function);

#endif
