/*
 * report_controls.h: what somebody told the recorder to do: since when figures
 * count, what was not recorded, the heaps of the program's own.
 */
#ifndef GNOMON_REPORT_CONTROLS_H
#define GNOMON_REPORT_CONTROLS_H

#include "cli/command/print/report_parts.h"

/* Lines of the summary; nothing where there is nothing to say. */
void report_view_text(const struct report *report);
void report_unrecorded_text(const struct report *report);
void report_pools_text(const struct report *report);
/* Members of the summary. */
void report_view_json(struct json *json, const struct report *report);
/* The member "heaps", of a report or of `gnomon info`; none where the trace
 * has no heap but the allocator's. */
void report_pools_json(struct json *json, const struct model *model);

/* ---- gnomon info ---- */

void report_controls_text(const struct model *model, FILE *out);
/* The members "controls" and "heaps". */
void report_controls_json(struct json *json, const struct model *model);

#endif
