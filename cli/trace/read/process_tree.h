/*
 * process_tree.h: chooses among the traces of a process and its children.
 * Recording a script, or a wrapper that ends with exec, leaves a trace of
 * little interest beside the trace that the user wants.
 */
#ifndef GNOMON_PROCESS_TREE_H
#define GNOMON_PROCESS_TREE_H

#include <stddef.h>

/*
 * The trace to use instead of this one, or NULL; the caller frees it. That is
 * the trace of the last program that the process became by exec. If that is a
 * shell, or a program that only starts other programs, it is the largest trace
 * of its children. Only traces in the same directory count.
 */
char *process_tree_wanted(const char *trace);

/* How many traces of child processes, and of theirs, are beside this trace. */
size_t process_tree_below(const char *trace);

/*
 * The trace of the oldest ancestor of this trace's process, as far as their
 * traces are in the same directory; the caller frees it. NULL: there is none. A
 * child's trace may be finished later than its parent's.
 */
char *process_tree_root(const char *trace);

/* The directory of a file; the caller frees it. */
char *process_tree_directory(const char *trace);

#endif
