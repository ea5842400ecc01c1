/*
 * compressor_none.c: see compressor.h: for targets without zstd. Columns are
 * stored uncompressed, which every reader accepts; `gnomon repack` compresses
 * such a trace.
 */
#include "cli/recorder/emit/compressor.h"

void *compressor_new(int window_log)
{
	(void)window_log;
	return NULL;
}

void compressor_set(void *compressor, const struct compressor_how *how)
{
	(void)compressor;
	(void)how;
}

size_t compressor_pack(void *compressor, uint8_t *to, const uint8_t *from,
		       size_t n)
{
	(void)compressor;
	(void)to;
	(void)from;
	return n;
}
