/*
 * jit_code.h: code made at run time that keeps no frame pointer, and the
 * unwind table for it, for targets.
 */
#ifndef GNOMON_TESTS_JIT_CODE_H
#define GNOMON_TESTS_JIT_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define CODE_MAX 64
#define CODE_PAGE 4096
#define TABLE_MAX 128

/* function(size) called from such code. */
typedef void *jit_call(void *(*function)(size_t), size_t size);

static inline uint8_t *jit_put(uint8_t *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/*
 * push rbp; sub rsp, frame; mov ebp, 7; mov rax, rdi; mov rdi, rsi; call rax;
 * add rsp, frame; pop rbp; ret. `page` is one of its own; `frame` a multiple
 * of 16 below 112. Returns the size.
 */
static inline size_t jit_make_code(uint8_t *page, uint8_t frame)
{
	uint8_t bytes[] = { 0x55, 0x48, 0x83, 0xec, frame, 0xbd, 7, 0, 0, 0,
			    0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0,
			    0x48, 0x83, 0xc4, frame, 0x5d, 0xc3 };

	mprotect(page, CODE_PAGE, PROT_READ | PROT_WRITE);
	memcpy(page, bytes, sizeof(bytes));
	mprotect(page, CODE_PAGE, PROT_READ | PROT_EXEC);
	return sizeof(bytes);
}

static inline void jit_put_length(uint8_t *record, uint8_t *end)
{
	uint32_t length = (uint32_t)(end - record) - 4;

	memcpy(record, &length, 4);
}

/* One CIE, one FDE with absolute addresses, a terminator. */
static inline size_t jit_make_table(uint8_t *table, const uint8_t *code,
				    uint8_t frame, uint64_t size)
{
	/* version 1, no augmentation, code 1, data -8, ra 16; CFA = rsp + 8,
	 * ra at CFA - 8 */
	static const uint8_t cie[] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1,
				       0, 0 };
	/* past the push: CFA = rsp + 16, rbp at CFA - 16; past the sub */
	const uint8_t program[] = { 0x41, 0x0e, 16, 0x86, 2,
				    0x44, 0x0e, 16 + frame };
	uint64_t start = (uintptr_t)code;
	uint32_t back;
	uint8_t *fde, *end = table + 4;

	end = jit_put(end, "\0\0\0", 4);
	end = jit_put(end, cie, sizeof(cie));
	jit_put_length(table, end);
	fde = end;
	back = (uint32_t)(fde + 4 - table);
	end = jit_put(fde + 4, &back, 4);
	end = jit_put(end, &start, 8);
	end = jit_put(end, &size, 8);
	end = jit_put(end, program, sizeof(program));
	jit_put_length(fde, end);
	end = jit_put(end, "\0\0\0", 4);
	return (size_t)(end - table);
}

#endif
