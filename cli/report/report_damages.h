/*
 * report_damages.h: what --guard found: writes beside blocks, and blocks that
 * were freed twice.
 */
#ifndef GNOMON_REPORT_DAMAGES_H
#define GNOMON_REPORT_DAMAGES_H

#include "cli/report/report.h"

/* A section; nothing where nothing was found. */
void report_damages_text(struct report *report);
/* The member "damages"; none where nothing was found. */
void report_damages_json(struct json *json, struct report *report);

#endif
