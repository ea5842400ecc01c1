/*
 * wrapper.h: recognizes functions that allocate for their callers (allocator
 * wrappers, language runtime), which are never a site.
 */
#ifndef GNOMON_WRAPPER_H
#define GNOMON_WRAPPER_H

#include <stdbool.h>

/*
 * Whether a function is one of these: functions in the C and C++ runtime
 * libraries; functions of the language's own namespaces, which templates put
 * into the user's binary (the calls from std::vector to operator new, Rust's
 * std and its crates); wrappers of malloc or free, by their names. Either
 * argument may be NULL: not known.
 */
bool wrapper_is(const char *library, const char *function);
/* Whether the function is an allocator wrapper (the last kind). */
bool wrapper_allocates(const char *library, const char *function);
/*
 * Code without a name that is called by a wrapper of the same library counts as
 * part of that wrapper: its static functions have lost their names. Elsewhere
 * code without a name is the user's code.
 */
bool wrapper_is_part(bool nameless, const char *library,
		     const char *outer_library, bool outer_wraps);
/* Is this the name of the function, without result type, parameters and
 * template arguments? A `*` at the end of `name` matches any rest. */
bool wrapper_is_function(const char *function, const char *name);

#endif
