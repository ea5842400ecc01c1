/*
 * report_processes.h: what several traces are: a table of processes.
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

/* Takes over what report->about holds. */
void report_processes_add(struct report_processes *processes,
			  struct report *report);
/* Put them in order: children behind their parents, or by a key. How one ended
 * whose trace does not say it is taken from its parent's, if that knows. */
void report_processes_sort(struct report_processes *processes, bool by_key,
			   enum figure key);
/* All of them as one; its texts are not to be freed. The peak is the sum of
 * peaks, which were not at one time. */
void report_processes_sum(const struct report_processes *processes,
			  struct report_process *sum);
/* The whole report: the table, and sections or rows of the profile if there
 * is one. */
void report_processes_text(const struct report_processes *processes,
			   struct report *report);
void report_processes_json(const struct report_processes *processes,
			   struct report *report);
void report_processes_free(struct report_processes *processes);

#endif
