/*
 * dump.h: dumps stacks as text at the program's request (dump_request.h). It
 * works in steps, so that the recorder can drain rings in between. The recorder
 * only.
 */
#ifndef GNOMON_DUMP_H
#define GNOMON_DUMP_H

#include "preload/ring/shared.h"

struct recorder;

/* Handles REQUEST_DUMP: one step. Returns the request's result. */
long dump_serve(struct recorder *rec, struct gl_request *request);

#endif
