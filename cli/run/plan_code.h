/*
 * plan_code.h: moving the first instructions of a function elsewhere, so that
 * a jump can stand in their place (x86-64, by Capstone).
 *
 * No state. Called by the main thread.
 */
#ifndef GNOMON_PLAN_CODE_H
#define GNOMON_PLAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/patch_format.h"

/*
 * Bytes of a file as they will be mapped: `size` of them at `address`, NULL
 * where there are not so many. *left, if not NULL: how many follow in all.
 */
struct plan_memory {
	const uint8_t *(*read)(const struct plan_memory *memory,
			       uint64_t address, size_t size, size_t *left);
	/* whether that is code */
	bool (*is_code)(const struct plan_memory *memory, uint64_t address);
};

struct plan_function {
	uint64_t entry;
	uint64_t end;		/* behind its last instruction */
	uint64_t limit;		/* where something else begins */
};

struct plan_moved {
	unsigned displaced;
	unsigned code_size, fix_count;
	uint8_t code[PATCH_CODE_MAX];
	struct patch_fix fixes[PATCH_FIXES_MAX];
};

/*
 * Fills *moved. NULL, or why it is not safe: the end of a sentence that
 * begins with the function's name.
 */
const char *plan_code_move(const struct plan_memory *memory,
			   const struct plan_function *function,
			   struct plan_moved *moved);

/* The only instruction is a jump: where it leads. Else 0. */
uint64_t plan_code_forwards(const struct plan_memory *memory,
			    const struct plan_function *function);

/*
 * Whether the function, or one that it calls directly, calls what can only be
 * known when it runs. A compiler that saw that counts on no register.
 */
bool plan_code_calls_out(const struct plan_memory *memory,
			 const struct plan_function *function);

/* Calls `visit` with where each direct call and jump out of it leads. */
void plan_code_calls(const struct plan_memory *memory,
		     const struct plan_function *function,
		     void (*visit)(void *data, uint64_t target), void *data);

/* Whether an instruction begins at `at`, where one does at `from`; true where
 * that cannot be known. */
bool plan_code_begins(const struct plan_memory *memory, uint64_t from,
		      uint64_t at);

#endif
