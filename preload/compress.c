/*
 * compress.c: zstd with a static workspace, so that it never allocates.
 *
 * The window is small: a chunk's columns are short, and tables that fit the
 * second-level cache keep the program's data in the others.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "preload/compress.h"

#include <string.h>
#include <zstd.h>

#include "preload/area.h"
#include "preload/varint.h"

#define COMPRESS_WINDOW_LOG 17
#define COMPRESS_LEAST 64	/* shorter columns are left as they are */

void compress_init(struct compress *compress)
{
	size_t size = ZSTD_estimateCCtxSize(1);
	void *memory = area_alloc(size);
	ZSTD_CCtx *context;

	compress->context = NULL;
	compress->level = COMPRESS_NONE;
	if (!memory)
		return;
	context = ZSTD_initStaticCCtx(memory, size);
	if (!context)
		return;
	compress->context = context;
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog,
			       COMPRESS_WINDOW_LOG);
	/* every chunk has a checksum of its own */
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
	compress_set_level(compress, 1);
}

void compress_set_level(struct compress *compress, int level)
{
	if (level == compress->level || !compress->context)
		return;
	compress->level = level;
	if (level != COMPRESS_NONE)
		ZSTD_CCtx_setParameter(compress->context,
				       ZSTD_c_compressionLevel, level);
}

uint8_t *compress_column(struct compress *compress, uint8_t *to,
			 const uint8_t *column, size_t n)
{
	uint8_t *stored, *bytes;
	size_t size = n;

	to = varint_put(to, n);
	stored = to;
	if (n >= COMPRESS_LEAST && compress->level != COMPRESS_NONE) {
		/* the frame goes where it belongs if its size takes as many
		 * bytes as n, which is moved otherwise */
		bytes = varint_put(to, n);
		size = ZSTD_compress2(compress->context, bytes, n - 1, column,
				      n);
		if (!ZSTD_isError(size) && size < n) {
			uint8_t *at = varint_put(stored, size);

			if (at != bytes)
				memmove(at, bytes, size);
			return at + size;
		}
		size = n;
	}
	bytes = varint_put(stored, size);
	memcpy(bytes, column, n);
	return bytes + n;
}
