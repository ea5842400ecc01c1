/*
 * compress.c: zstd with a static workspace, so that it never allocates.
 *
 * The window is small: a chunk's columns are short, and tables that fit the
 * second-level cache keep the program's data in the others.
 *
 * Columns have few long repetitions and much skew, so their worth lies in
 * entropy coding; searching for matches is what costs. zstd's negative levels
 * leave literals uncoded unless told otherwise. Measured on events of cc1plus:
 *
 *	level   1		18.2 ns an event	2.81 bytes
 *	level  -1		13.1			3.25
 *	level  -7, literals	13.1			3.04
 *	level -20, literals	 9.8			3.27
 *	level -50, literals	 8.1			3.44
 *	level -50		 2.7			4.35
 *
 * where repetitive programs (sqlite3) need 4 to 5 ns and 0.3 to 0.5 bytes at
 * any of them.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "preload/compress.h"

#include <string.h>
#include <zstd.h>

#include "preload/area.h"
#include "preload/varint.h"

#define COMPRESS_WINDOW_LOG 17
#define COMPRESS_LEAST 64	/* shorter columns are left as they are */

static const struct {
	int level;
	ZSTD_paramSwitch_e literals;
} compress_efforts[COMPRESS_NONE] = {
	[COMPRESS_SMALL] = { -20, ZSTD_ps_enable },
	[COMPRESS_MIDDLE] = { -50, ZSTD_ps_enable },
	[COMPRESS_FAST] = { -50, ZSTD_ps_disable },
};

void compress_init(struct compress *compress)
{
	size_t size = ZSTD_estimateCCtxSize(1);
	void *memory = area_alloc(size);

	compress->context = NULL;
	compress->effort = COMPRESS_NONE;
	if (memory)
		compress->context = ZSTD_initStaticCCtx(memory, size);
	if (!compress->context)
		return;
	ZSTD_CCtx_setParameter(compress->context, ZSTD_c_windowLog,
			       COMPRESS_WINDOW_LOG);
	/* every chunk has a checksum of its own */
	ZSTD_CCtx_setParameter(compress->context, ZSTD_c_checksumFlag, 0);
	compress_set_effort(compress, COMPRESS_SMALL);
}

void compress_set_effort(struct compress *compress,
			 enum compress_effort effort)
{
	if (effort == compress->effort || !compress->context)
		return;
	compress->effort = effort;
	if (effort == COMPRESS_NONE)
		return;
	ZSTD_CCtx_setParameter(compress->context, ZSTD_c_compressionLevel,
			       compress_efforts[effort].level);
	ZSTD_CCtx_setParameter(compress->context,
			       ZSTD_c_literalCompressionMode,
			       compress_efforts[effort].literals);
}

uint8_t *compress_column(struct compress *compress, uint8_t *to,
			 const uint8_t *column, size_t n)
{
	uint8_t *stored, *bytes;
	size_t size = n;

	to = varint_put(to, n);
	stored = to;
	if (n >= COMPRESS_LEAST && compress->effort != COMPRESS_NONE) {
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
