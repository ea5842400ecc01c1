/*
 * names.h: function names as people write them.
 */
#ifndef GNOMON_NAMES_H
#define GNOMON_NAMES_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"

/* The source-language name of a linker symbol (C++, Rust, D), or the symbol
 * itself. Appended to `out`. */
void names_demangle(struct buffer *out, const char *symbol);

/*
 * The same name without what its author did not write: std::string instead
 * of std::__cxx11::basic_string<char, …>, no default allocators, comparisons
 * and traits. Appended to `out`.
 */
void names_shorten(struct buffer *out, const char *name);

/*
 * For a line of a report: no parameters, no type of a result and, where it is
 * longer than `width`, no inner template arguments, then none at all, then
 * ".." for its outer scopes, and in the end for its middle. Appended to `out`.
 */
void names_brief(struct buffer *out, const char *name, size_t width);

/*
 * Whether `matches` says so of the name, or of any form of it that reports
 * print: shortened, without parameters, with fewer template arguments. What
 * names_brief does beyond that, cutting, makes no names.
 */
bool names_any_form(const char *name,
		    bool (*matches)(void *owner, const char *form),
		    void *owner);

#endif
