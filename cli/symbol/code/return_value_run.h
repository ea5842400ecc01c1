/*
 * return_value_run.h: for return_value.c: the return value of an ARM or MIPS
 * function, by following its instructions and the values of registers.
 *
 *	ARM	ldr r3, [pc, n]; add r3, pc; mov r0, r3; movs r0, n
 *	MIPS64	lui v1, n; daddu v1, v1, t9; daddiu v1, v1, n; ld v0, n(v1);
 *		daddiu v0, v0, n
 *
 * Of the MIPS loads, only those of words of the global offset table that have
 * no symbol (mips_table.h). Instructions that save the frame pointer may stand
 * in between.
 */
#ifndef GNOMON_RETURN_VALUE_RUN_H
#define GNOMON_RETURN_VALUE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

/* `code` is the code of the function at this address of the file, at most
 * `size` bytes; for ARM the lowest bit of the address means Thumb. *absolute:
 * the result is a number, which does not move with the file in memory. False:
 * the function does more. */
bool return_value_run(const struct elf_tables *elf, const uint8_t *code,
		      size_t size, uint64_t address, uint64_t *value,
		      bool *absolute);

#endif
