/*
 * report_chains.h: which code lets blocks grow by realloc, step by step, and
 * what copying that costs. For a report whose model has chains; else it says
 * nothing.
 */
#ifndef GNOMON_REPORT_CHAINS_H
#define GNOMON_REPORT_CHAINS_H

#include "cli/report/report.h"

void report_chains_text(struct report *report);

#endif
