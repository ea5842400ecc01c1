/*
 * report_peaks.h: the most that each row of a report held at any time, which
 * the own peaks of its stacks do not tell: those were at other times.
 */
#ifndef GNOMON_REPORT_PEAKS_H
#define GNOMON_REPORT_PEAKS_H

#include "cli/report/report_rows.h"

/*
 * Reads the trace once more and writes down the exact own peaks of the rows
 * that are there; sets rows->exact. Where that cannot be they stay sums: in a
 * pipe, in a trace that is being written (it has grown since) and in one from
 * which blocks were left out.
 */
void report_peaks(const struct report *report, struct report_rows *rows);

#endif
