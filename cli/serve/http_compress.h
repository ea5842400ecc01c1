/*
 * http_compress.h: compresses answers. The worker that made an answer
 * compresses it, to keep the front free. No state.
 */
#ifndef GNOMON_HTTP_COMPRESS_H
#define GNOMON_HTTP_COMPRESS_H

#include <stdbool.h>

#include "cli/serve/worker.h"

/* The best supported coding of an Accept-Encoding header. */
enum worker_coding http_compress_choose(const char *accepted);
/* The name for Content-Encoding; NULL: no coding. */
const char *http_compress_name(enum worker_coding coding);
/* Compress one file into another, empty one. If the content is short or
 * compression fails, the other file stays empty. False: it was partly written
 * and must not be sent. */
bool http_compress_write(int from, int to, enum worker_coding coding);

#endif
