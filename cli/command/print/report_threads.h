/*
 * report_threads.h: the threads of a trace, and how the stacks of each were
 * taken: a part of `gnomon info`.
 */
#ifndef GNOMON_REPORT_THREADS_H
#define GNOMON_REPORT_THREADS_H

#include "cli/base/text/json.h"
#include "cli/model/model.h"

/* Lines of the summary; none for a trace that does not say. */
void report_captures_text(const struct model *model, FILE *out);
void report_threads_text(const struct model *model, FILE *out);
/* That threads went without memory, if some did. */
void report_slow_text(const struct model *model, FILE *out);
/* The members "captures" and "threads". */
void report_captures_json(struct json *json, const struct model *model);
void report_threads_json(struct json *json, const struct model *model);

#endif
