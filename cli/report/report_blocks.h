/*
 * report_blocks.h: the live blocks themselves.
 */
#ifndef GNOMON_REPORT_BLOCKS_H
#define GNOMON_REPORT_BLOCKS_H

#include "cli/report/report.h"

void report_blocks_text(struct report *report);
/* The member "rows". */
void report_blocks_json(struct json *json, struct report *report);

#endif
