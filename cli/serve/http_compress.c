/*
 * http_compress.c: see http_compress.h.
 */
#include "cli/serve/http_compress.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "cli/base/io_full.h"

#define SIZE_MIN 1024		/* less fits into a packet uncompressed */
#define ZSTD_LEVEL 3
#define GZIP_LEVEL 5
#define GZIP_BITS (MAX_WBITS + 16)	/* zlib's flag for gzip */

/* Whether the list has the coding, without ";q=0". */
static bool is_accepted(const char *list, const char *coding)
{
	size_t size = strlen(coding);

	while (*list != 0) {
		size_t length;

		list += strspn(list, " \t,");
		length = strcspn(list, ",");
		if (strncasecmp(list, coding, size) == 0 &&
		    strchr(" \t,;", list[size]) != NULL) {
			const char *weight = strstr(list, "q=0");

			return weight == NULL || weight >= list + length ||
				strspn(weight + 3, ".0") + 3 <
				strcspn(weight, ", \t;");
		}
		list += length;
	}
	return false;
}

enum worker_coding http_compress_choose(const char *accepted)
{
	if (accepted == NULL)
		return WORKER_PLAIN;
	return is_accepted(accepted, "zstd") ? WORKER_ZSTD :
		is_accepted(accepted, "gzip") ? WORKER_GZIP : WORKER_PLAIN;
}

const char *http_compress_name(enum worker_coding coding)
{
	return coding == WORKER_ZSTD ? "zstd" :
		coding == WORKER_GZIP ? "gzip" : NULL;
}

static size_t pack_gzip(void *to, size_t room, const void *from, size_t size)
{
	z_stream stream = {
		.next_in = (void *)from, .avail_in = (uInt)size,
		.next_out = to, .avail_out = (uInt)room,
	};
	bool good = deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_BITS,
				 8, Z_DEFAULT_STRATEGY) == Z_OK &&
		deflate(&stream, Z_FINISH) == Z_STREAM_END;
	size_t packed = good ? stream.total_out : 0;

	deflateEnd(&stream);
	return packed;
}

static size_t pack_zstd(void *to, size_t room, const void *from, size_t size)
{
	size_t packed = ZSTD_compress(to, room, from, size, ZSTD_LEVEL);

	return ZSTD_isError(packed) ? 0 : packed;
}

/* Bytes written to `made`; 0: not smaller. */
static size_t pack(const void *bytes, size_t size, void *made,
		   enum worker_coding coding)
{
	/* The output has no more room than the input: it must be smaller. */
	return coding == WORKER_ZSTD ? pack_zstd(made, size, bytes, size) :
		pack_gzip(made, size, bytes, size);
}

bool http_compress_write(int from, int to, enum worker_coding coding)
{
	struct stat status;
	size_t size, packed = 0;
	void *bytes, *made;
	bool good = true;

	if (fstat(from, &status) != 0 || status.st_size < SIZE_MIN ||
	    (uint64_t)status.st_size > UINT32_MAX / 2)
		return true;
	size = (size_t)status.st_size;
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, from, 0);
	if (bytes == MAP_FAILED)
		return true;
	made = malloc(size);
	if (made != NULL)
		packed = pack(bytes, size, made, coding);
	if (packed > 0 && io_full_write(to, made, packed) != 0)
		good = ftruncate(to, 0) == 0;
	free(made);
	munmap(bytes, size);
	return good;
}
