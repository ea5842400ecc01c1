/*
 * report_facts.h: what a trace says of its recording, line by line: a part of
 * `gnomon info`.
 */
#ifndef GNOMON_REPORT_FACTS_H
#define GNOMON_REPORT_FACTS_H

#include "cli/base/text/json.h"
#include "cli/model/model.h"

/* `full`: nothing is cut, however long it is. */
void report_facts_text(const struct model *model, bool full, FILE *out);
/* Three members: "info", "counters", "end". */
void report_facts_json(struct json *json, const struct model *model);

#endif
