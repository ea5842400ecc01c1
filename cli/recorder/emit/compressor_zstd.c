/*
 * compressor_zstd.c: see compressor.h: zstd with a static workspace, so that it
 * allocates nothing later.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "cli/recorder/emit/compressor.h"

#include <zstd.h>

#include "cli/recorder/base/zeroed.h"
#include "unwind/base/assertion.h"

/* zstd's values: they are the same since 1.4, but their names have changed. */
_Static_assert(COMPRESSOR_AUTO == 0 && COMPRESSOR_CODED == 1 &&
		       COMPRESSOR_RAW == 2,
	       "ZSTD_literalCompressionMode_e");

void *compressor_new(int window_log)
{
	size_t size = ZSTD_estimateCCtxSize(1);
	void *memory = zeroed_alloc(size), *context = NULL;

	if (memory)
		context = ZSTD_initStaticCCtx(memory, size);
	if (!context)
		return NULL;
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
	/* every chunk has a checksum of its own */
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
	return context;
}

void compressor_set(void *compressor, const struct compressor_how *how)
{
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, how->level);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_literalCompressionMode,
			       how->literals);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_hashLog, how->hash_log);
}

size_t compressor_pack(void *compressor, uint8_t *to, const uint8_t *from,
		       size_t n)
{
	size_t size = ZSTD_compress2(compressor, to, n - 1, from, n);

	DEBUG_ASSERT(ZSTD_isError(size) || size < n);
	return ZSTD_isError(size) ? n : size;
}
