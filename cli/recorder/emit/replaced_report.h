/*
 * replaced_report.h: reports replaced code to hooks (the recorder's half of
 * replaced_code.h). The recorder only.
 */
#ifndef GNOMON_REPLACED_REPORT_H
#define GNOMON_REPLACED_REPORT_H

#include <stdbool.h>

#include "preload/ring/shared.h"

/* Reports that code in [start, end) was replaced. False: no room, try again
 * later. */
bool replaced_report(struct gl_shared *shared, uint64_t start, uint64_t end);

/* Requests that a thread reads the reported ranges, if any is unread. Call
 * repeatedly. */
void replaced_request(struct gl_shared *shared);

#endif
