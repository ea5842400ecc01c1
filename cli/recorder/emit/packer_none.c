/*
 * packer_none.c: see packer.h: for targets without zstd. Columns are stored
 * uncompressed, which every reader accepts; `gnomon repack` compresses such a
 * trace.
 */
#include "cli/recorder/emit/packer.h"

void *packer_new(int window_log)
{
	(void)window_log;
	return NULL;
}

void packer_set(void *packer, const struct packer_how *how)
{
	(void)packer;
	(void)how;
}

size_t packer_pack(void *packer, uint8_t *to, const uint8_t *from, size_t n)
{
	(void)packer;
	(void)to;
	(void)from;
	return n;
}
