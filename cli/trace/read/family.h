/*
 * family.h: which of the traces of a process and of what it started is meant.
 * Who records a script, or a wrapper that ends with exec, gets a trace of
 * little interest beside the one that was wanted.
 */
#ifndef GNOMON_FAMILY_H
#define GNOMON_FAMILY_H

#include <stddef.h>

/*
 * The trace to look at instead of this one, to be freed, or NULL: what the
 * process became last by exec; and where that is a shell, or a program whose
 * purpose is to start another one, the largest trace of what it started. Only
 * traces beside it are looked at.
 */
char *family_wanted(const char *trace);

/*
 * The trace of what started the process of this one, and of what started that,
 * as far as they are beside it; to be freed, or NULL: nothing did. A child's
 * may have been written to its end later than its parent's.
 */
char *family_eldest(const char *trace);

/* The directory that a file is in, to be freed. */
char *family_directory(const char *trace);

#endif
