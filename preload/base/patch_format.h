/*
 * patch_format.h: format of the patch plan: which functions of a static
 * allocator are redirected, and how. The command makes it
 * (cli/run/patch_plan.h), the library applies it (preload/patch/patch.h).
 *
 * The plan is passed in one environment variable, so it survives exec, chroot
 * and a change of user, and leaves no file behind. Its bytes, six bits a
 * character (PATCH_DIGITS):
 *
 *	version      1 byte, PATCH_VERSION
 *	images       each a struct patch_image, and then for each function
 *	  entry      struct patch_entry
 *	  code       the same instructions, to be run elsewhere
 *	  fixes      each a struct patch_fix
 *	check        8 bytes: patch_hash of everything before
 *
 * A plan may have several programs, e.g. an emulator and the program that it
 * runs. The library recognises its own program by the code.
 *
 * There is no padding and no alignment; numbers are in the machine's byte
 * order. The code ends with a jump back, or with an instruction that does not
 * fall through.
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
#define PATCH_FUNCTIONS_MAX 256		/* per image */
#define PATCH_SIZE_MAX (1u << 20)	/* per function */
#define PATCH_JUMP 5			/* bytes of a jump to within 2 GiB */
#define PATCH_DISPLACED_MAX 19		/* 4 bytes, and one more instruction */
#define PATCH_CODE_MAX 96
#define PATCH_FIXES_MAX 16

enum { PATCH_PROGRAM = 1, PATCH_LIBRARY };

/* Callers in the same file may rely on registers that a function may change by
 * the ABI: all of them are kept. */
#define PATCH_KEEPS_ALL 1

enum patch_fix_kind {
	/* 4 bytes: the address relative to the end of the instruction, which is
	 * `tail` bytes after them */
	PATCH_FIX_RELATIVE,
	/* 4 bytes: the low half of the address, and the high one */
	PATCH_FIX_LOW,
	PATCH_FIX_HIGH,
	PATCH_FIX_KINDS
};

enum patch_op {
	PATCH_ALLOC,		/* the result is a new block, or 0 */
	PATCH_FREE,
	PATCH_REALLOC,		/* the result is the block's new address, or
				 * 0 */
	PATCH_REALLOC_OR_FREE,	/* the same; 0: the old one was freed */
	PATCH_RESIZE,		/* the result is the new size of the block */
	PATCH_POINTER,		/* `block` is where the block's address is
				 * stored; the result is 0, or an error */
	PATCH_STRING,		/* the result is a new string, or 0 */
	PATCH_OPS
};

#define PATCH_ARGUMENTS 6
#define PATCH_NONE PATCH_ARGUMENTS

/* What a function does, and the indices of its arguments; PATCH_NONE: it has no
 * such argument. The block has `count` elements of `size` bytes. */
struct patch_shape {
	uint8_t op;		/* enum patch_op */
	uint8_t block;
	uint8_t size;
	uint8_t count;
};

struct patch_image {
	uint8_t kind;		/* PATCH_PROGRAM, PATCH_LIBRARY */
	uint8_t warned;		/* 1: there is no plan, and the user was told
				 * why */
	uint16_t functions;
	/* name of the file without directories; ends with a NUL */
	char name[PATCH_NAME_MAX + 1];
};

struct patch_entry {
	uint64_t address;	/* as in the file's symbol table */
	uint64_t check;		/* patch_hash of the code that was analysed */
	uint32_t size;		/* of that code */
	uint8_t flags;		/* PATCH_KEEPS_ALL */
	uint8_t displaced;	/* bytes that the jump overwrites */
	uint8_t code_size, fix_count;
	struct patch_shape shape;
	uint32_t unused;
};

struct patch_fix {
	uint64_t target;	/* an address in the file */
	uint8_t at, tail;	/* position in the code (enum patch_fix_kind) */
	uint8_t kind;
	uint8_t unused[5];
};

/* FNV-1a: the command and the library compare the same bytes, and neither has
 * an attacker to fear. */
static inline uint64_t patch_hash(const void *data, size_t size)
{
	const uint8_t *byte = (const uint8_t *)data, *end = byte + size;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (byte < end)
		hash = (hash ^ *byte++) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
