/*
 * zstd_shims.c: what libzstd calls of a C library. Its object is linked with
 * these names in place of the real ones (mk/target.mk). The writer only.
 *
 * With a static workspace it allocates nothing; asked all the same, there is
 * no memory.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/sys.h"

void *gnomon_zstd_malloc(size_t size);
void *gnomon_zstd_calloc(size_t count, size_t size);
void gnomon_zstd_free(void *block);
void *gnomon_zstd_memcpy(void *to, const void *from, size_t n);
void *gnomon_zstd_memmove(void *to, const void *from, size_t n);
void *gnomon_zstd_memset(void *to, int byte, size_t n);
void gnomon_zstd___stack_chk_fail(void);
uint64_t gnomon_zstd_ZSTD_trace_compress_begin(const void *context);
void gnomon_zstd_ZSTD_trace_compress_end(uint64_t trace, const void *what);

void *gnomon_zstd_malloc(size_t size)
{
	(void)size;
	return NULL;
}

void *gnomon_zstd_calloc(size_t count, size_t size)
{
	(void)count;
	(void)size;
	return NULL;
}

void gnomon_zstd_free(void *block)
{
	(void)block;
}

void *gnomon_zstd_memcpy(void *to, const void *from, size_t n)
{
	return memcpy(to, from, n);
}

void *gnomon_zstd_memmove(void *to, const void *from, size_t n)
{
	return memmove(to, from, n);
}

void *gnomon_zstd_memset(void *to, int byte, size_t n)
{
	return memset(to, byte, n);
}

/* 0: this compression is not traced. */
uint64_t gnomon_zstd_ZSTD_trace_compress_begin(const void *context)
{
	(void)context;
	return 0;
}

void gnomon_zstd_ZSTD_trace_compress_end(uint64_t trace, const void *what)
{
	(void)trace;
	(void)what;
}

/* A smashed stack of the writer: it ends, the target goes on, and the live
 * file keeps what was not written. */
void gnomon_zstd___stack_chk_fail(void)
{
	for (;;)
		arch_syscall1(__NR_exit, 1);
}
