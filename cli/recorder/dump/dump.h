/*
 * dump.h: dumps of stacks, which the program asks for (dump_part.h). A bit of
 * the work at a time, so that the writer goes on meanwhile. The writer only.
 */
#ifndef GNOMON_DUMP_H
#define GNOMON_DUMP_H

#include "preload/ring/shared.h"

struct writer;

/* ASK_DUMP: a step. The result of the request. */
long dump_serve(struct writer *w, struct gl_request *request);

#endif
