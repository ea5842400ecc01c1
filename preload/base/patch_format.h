/*
 * patch_format.h: the plan by which entry points of an allocator that is linked
 * into the program are patched. The command makes it (cli/run/plan.h), the
 * library applies it (preload/patch/patch.h).
 *
 * It travels in one variable of the environment, so it outlives exec, chroot
 * and a change of user, and leaves nothing behind. Its bytes, six bits a
 * character (PATCH_DIGITS):
 *
 *	version      1 byte, PATCH_VERSION
 *	images       each a struct patch_image, and then for each function
 *	  entry      struct patch_entry
 *	  code       the same instructions, to be run elsewhere
 *	  fixes      each a struct patch_fix
 *	check        8 bytes: patch_hash of all before
 *
 * There may be several programs: what a program is run by, and itself. Which one
 * this is, its code tells.
 *
 * There is nothing in between, so nothing is aligned; numbers are as the machine
 * has them. The code ends with a jump back, or with an instruction that does
 * not go on.
 */
#ifndef GNOMON_PATCH_FORMAT_H
#define GNOMON_PATCH_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define PATCH_VARIABLE "GNOMON_PLAN"
#define PATCH_VERSION 3

/* One string of an environment may have 128 KiB. */
#define PATCH_TEXT_MAX (64u << 10)
#define PATCH_BYTES_MAX (PATCH_TEXT_MAX / 4 * 3)
#define PATCH_DIGITS                                                        \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

#define PATCH_CHECK 8			/* bytes */
#define PATCH_NAME_MAX 255
#define PATCH_FUNCTIONS_MAX 256		/* of an image */
#define PATCH_SIZE_MAX (1u << 20)	/* of a function */
#define PATCH_JUMP 5			/* bytes of a jump to within 2 GiB */
#define PATCH_DISPLACED_MAX 19		/* 4 bytes, and one more instruction */
#define PATCH_CODE_MAX 96
#define PATCH_FIXES_MAX 16

enum { PATCH_PROGRAM = 1, PATCH_LIBRARY };

/* Callers in the same file may count on registers that a function is free to
 * change: all of them are kept. */
#define PATCH_KEEPS_ALL 1

enum patch_fix_kind {
	/* 4 bytes: the address, from the end of the instruction, which is
	 * `tail` bytes behind them */
	PATCH_FIX_RELATIVE,
	/* 4 bytes: the low half of the address, and the high one */
	PATCH_FIX_LOW,
	PATCH_FIX_HIGH,
	PATCH_FIX_KINDS
};

enum patch_op {
	PATCH_ALLOC,		/* the result is a new block, or 0 */
	PATCH_FREE,
	PATCH_REALLOC,		/* the result is the block's new place, or 0 */
	PATCH_REALLOC_OR_FREE,	/* the same; 0: the old one was freed */
	PATCH_RESIZE,		/* the result is the new size of the block */
	PATCH_POINTER,		/* `block` is where the block's address goes;
				 * the result is 0, or an error */
	PATCH_STRING,		/* the result is a new string, or 0 */
	PATCH_OPS
};

#define PATCH_ARGUMENTS 6
#define PATCH_NONE PATCH_ARGUMENTS

/* What a function does, by the numbers of its arguments; PATCH_NONE: it has
 * none such. The size is that of `count` elements. */
struct patch_shape {
	uint8_t op;		/* enum patch_op */
	uint8_t block;
	uint8_t size;
	uint8_t count;
};

struct patch_image {
	uint8_t kind;		/* PATCH_PROGRAM, PATCH_LIBRARY */
	uint8_t told;		/* 1: there is no plan and the user knows why */
	uint16_t functions;
	/* of the file without directories; ends with a NUL */
	char name[PATCH_NAME_MAX + 1];
};

struct patch_entry {
	uint64_t address;	/* in the file, as its symbols have it */
	uint64_t check;		/* patch_hash of the code that was analysed */
	uint32_t size;		/* of that code */
	uint8_t flags;		/* PATCH_KEEPS_ALL */
	uint8_t displaced;	/* how many bytes the jump takes */
	uint8_t code_size, fix_count;
	struct patch_shape shape;
	uint32_t unused;
};

struct patch_fix {
	uint64_t target;	/* an address in the file */
	uint8_t at, tail;	/* in the code (enum patch_fix_kind) */
	uint8_t kind;
	uint8_t unused[5];
};

/* FNV-1a: what is compared is what the command and the library both see, and
 * nobody is out to deceive. */
static inline uint64_t patch_hash(const void *data, size_t size)
{
	const uint8_t *byte = (const uint8_t *)data, *end = byte + size;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (byte < end)
		hash = (hash ^ *byte++) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
