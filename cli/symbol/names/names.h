/*
 * names.h: demangles and shortens function names.
 */
#ifndef GNOMON_NAMES_H
#define GNOMON_NAMES_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"

/* Appends the source name of a linker symbol (C++, Rust, D), or the symbol
 * itself, to `out`. */
void names_demangle(struct buffer *out, const char *symbol);

/*
 * Appends the name without parts that the author did not write: std::string
 * instead of std::__cxx11::basic_string<char, …>, no default allocators,
 * comparisons and traits.
 */
void names_shorten(struct buffer *out, const char *name);

/*
 * Appends a form for one line of a report: no parameters and no return type. If
 * it is longer than `width`, first inner, then all template arguments are left
 * out, then ".." replaces outer scopes, and finally the middle.
 */
void names_brief(struct buffer *out, const char *name, size_t width);

/*
 * Whether `matches` accepts the name, or any form of it that reports print:
 * shortened, without parameters, with fewer template arguments. Names that
 * names_brief cuts do not count.
 */
bool names_any_form(const char *name,
		    bool (*matches)(void *owner, const char *form),
		    void *owner);

#endif
