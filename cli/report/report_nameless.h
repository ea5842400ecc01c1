/*
 * report_nameless.h: which libraries lack names, and how to get them.
 */
#ifndef GNOMON_REPORT_NAMELESS_H
#define GNOMON_REPORT_NAMELESS_H

#include "cli/report/report.h"

/* One line on standard error, if what was shown had functions without a name.
 * To be called behind the report. */
void report_nameless(const struct report *r);

#endif
