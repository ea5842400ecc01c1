/*
 * glue.h: functions that allocate for others, by which no site is told.
 */
#ifndef GNOMON_GLUE_H
#define GNOMON_GLUE_H

#include <stdbool.h>

/*
 * Glue are: functions in the C and C++ run-time libraries; those of the
 * language's own namespaces, which templates put into the user's binary
 * (std::vector's way to operator new, Rust's std and its crates); plain
 * wrappers of malloc or free, by their names. Either may be NULL: not known.
 */
bool glue_is(const char *library, const char *function);
/* Only the last of these. */
bool glue_wraps(const char *library, const char *function);
/*
 * Code without a name that a wrapper of its own library called is a part of
 * that wrapper, whose static functions have lost their names. Elsewhere, code
 * without a name is the user's, as good as any.
 */
bool glue_is_part(bool nameless, const char *library,
		  const char *outer_library, bool outer_wraps);
/* Is this the name of a function, its result, parameters and template arguments
 * apart? A `*` at the end of the name is whatever follows. */
bool glue_is_function(const char *function, const char *name);

#endif
