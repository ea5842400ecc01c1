/*
 * packing.h: answers compressed, by the worker that made them, so that the front
 * need not. No state.
 */
#ifndef GNOMON_PACKING_H
#define GNOMON_PACKING_H

#include <stdbool.h>

#include "cli/serve/worker.h"

/* The codings of a header Accept-Encoding: the best one that we have. */
enum worker_coding packing_choose(const char *accepted);
/* As Content-Encoding has it; NULL: there is none. */
const char *packing_name(enum worker_coding coding);
/* Compress what is in one file into another, which is empty. What is short, or
 * cannot be compressed for whatever reason, is not: the other stays empty. False:
 * a part was written, and must not be sent. */
bool packing_write(int from, int to, enum worker_coding coding);

#endif
