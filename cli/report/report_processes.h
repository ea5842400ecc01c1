/*
 * report_processes.h: reports several traces as a table of processes.
 */
#ifndef GNOMON_REPORT_PROCESSES_H
#define GNOMON_REPORT_PROCESSES_H

#include "cli/report/report.h"

struct report_processes {
	struct report_process *list;
	size_t count;
	size_t capacity;
	uint64_t unreadable;	/* traces that could not be read at all */
};

/* Takes ownership of the contents of report->about. */
void report_processes_add(struct report_processes *processes,
			  struct report *report);
/* Sort: children after their parents, or by a key. If a trace does not have its
 * process's exit, it is taken from the parent's trace, if that has it. */
void report_processes_sort(struct report_processes *processes, bool by_key,
			   enum measure key);
/* All processes as one; its texts must not be freed. The peak is the sum of the
 * peaks, which were at different times. */
void report_processes_sum(const struct report_processes *processes,
			  struct report_process *sum);
/* The whole report: the table, and sections or rows of the profile if there is
 * one. */
void report_processes_text(const struct report_processes *processes,
			   struct report *report);
void report_processes_json(const struct report_processes *processes,
			   struct report *report);
void report_processes_free(struct report_processes *processes);

#endif
