/*
 * report_relatives.h: traces beside one that tell more of the same story:
 * what the program became by exec, and what it started.
 */
#ifndef GNOMON_REPORT_RELATIVES_H
#define GNOMON_REPORT_RELATIVES_H

#include "cli/command/print/report_parts.h"

/* Lines of the summary; none where there are no such traces. */
void report_relatives_text(const struct report *report);

#endif
