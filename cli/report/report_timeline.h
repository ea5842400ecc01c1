/*
 * report_timeline.h: how what was live changed over the run, as a table of a
 * few moments. For a report whose model has a timeline; else it says nothing.
 */
#ifndef GNOMON_REPORT_TIMELINE_H
#define GNOMON_REPORT_TIMELINE_H

#include "cli/report/report.h"

void report_timeline_text(const struct report *report);

#endif
