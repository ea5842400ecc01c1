/*
 * patch_plan_code.h: relocates the first instructions of a function, so that a
 * jump can replace them (x86-64, with Capstone).
 *
 * No state. Called by the main thread.
 */
#ifndef GNOMON_PATCH_PLAN_CODE_H
#define GNOMON_PATCH_PLAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/patch_format.h"

/*
 * Returns `size` bytes of a file at `address`, as they will be mapped; NULL:
 * not that many. *left, if not NULL: bytes available from there.
 */
struct patch_plan_memory {
	const uint8_t *(*read)(const struct patch_plan_memory *memory,
			       uint64_t address, size_t size, size_t *left);
	/* whether the address is in code */
	bool (*is_code)(const struct patch_plan_memory *memory,
			uint64_t address);
};

struct patch_plan_function {
	uint64_t entry;
	uint64_t end;		/* after its last instruction */
	uint64_t limit;		/* where the next symbol begins */
};

struct patch_plan_moved {
	unsigned displaced;
	unsigned code_size, fix_count;
	uint8_t code[PATCH_CODE_MAX];
	struct patch_fix fixes[PATCH_FIXES_MAX];
};

/*
 * Fills *moved. Returns NULL, or why relocation is not safe: the end of a
 * sentence that begins with the function's name.
 */
const char *patch_plan_code_move(const struct patch_plan_memory *memory,
				 const struct patch_plan_function *function,
				 struct patch_plan_moved *moved);

/* The target of the jump, if the function is a single jump. Else 0. */
uint64_t patch_plan_code_forwards(const struct patch_plan_memory *memory,
				  const struct patch_plan_function *function);

/*
 * Whether the function, or one reached by direct calls, makes an indirect call.
 * Then the compiler cannot assume that any caller-saved register is preserved.
 */
bool patch_plan_code_calls_out(const struct patch_plan_memory *memory,
			       const struct patch_plan_function *function);

/* Calls `visit` with the target of each direct call and jump out of the
 * function. */
void patch_plan_code_calls(const struct patch_plan_memory *memory,
			   const struct patch_plan_function *function,
			   void (*visit)(void *data, uint64_t target),
			   void *data);

/* Whether an instruction begins at `at`, given that one begins at `from`. Also
 * true if that is unknown. */
bool patch_plan_code_begins(const struct patch_plan_memory *memory,
			    uint64_t from, uint64_t at);

#endif
