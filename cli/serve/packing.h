/*
 * packing.h: compresses answers. The worker that made an answer compresses it,
 * to keep the front free. No state.
 */
#ifndef GNOMON_PACKING_H
#define GNOMON_PACKING_H

#include <stdbool.h>

#include "cli/serve/worker.h"

/* The best supported coding of an Accept-Encoding header. */
enum worker_coding packing_choose(const char *accepted);
/* The name for Content-Encoding; NULL: no coding. */
const char *packing_name(enum worker_coding coding);
/* Compress one file into another, empty one. If the content is short or
 * compression fails, the other file stays empty. False: it was partly written
 * and must not be sent. */
bool packing_write(int from, int to, enum worker_coding coding);

#endif
