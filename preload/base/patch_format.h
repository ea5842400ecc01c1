/*
 * patch_format.h: the plan by which entry points of an allocator that is
 * linked into the program are patched. The command makes it (cli/plan.h), the
 * library applies it (preload/patch/patch.h).
 *
 * It travels in one variable of the environment, so it outlives exec, chroot
 * and a change of user, and leaves nothing behind. Its bytes, six bits a
 * character (PATCH_DIGITS):
 *
 *	version      1 byte, PATCH_VERSION
 *	images       each:
 *	  kind       1 byte: PATCH_END, PATCH_PROGRAM, PATCH_LIBRARY
 *	  name       of the file without directories
 *	  allocator  for the message
 *	  told       1 byte: 1 if there is no plan and the user knows why
 *	  functions  their number, then each:
 *	    address  in the file, as its symbols have it
 *	    size     of the code that was analysed
 *	    check    8 bytes: patch_hash of that code, little-endian
 *	    flags    1 byte, PATCH_KEEPS_ALL
 *	    shape    op, block, size, count: 1 byte each (struct patch_shape)
 *	    displaced  1 byte: how many bytes the jump takes
 *	    code     the same instructions, to be run elsewhere
 *	    fixes    their number, then each: at, tail, kind: 1 byte each;
 *	             address
 *	check        8 bytes: patch_hash of all before, little-endian
 *
 * There may be several programs: what a program is run by, and itself. Which one
 * this is, its code tells.
 *
 * Names and code are a length and so many bytes; numbers without a size are
 * LEB128. The code ends with a jump back, or with an instruction that does not
 * go on.
 */
#ifndef GNOMON_PATCH_FORMAT_H
#define GNOMON_PATCH_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define PATCH_VARIABLE "GNOMON_PLAN"
#define PATCH_VERSION 2

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

enum { PATCH_END, PATCH_PROGRAM, PATCH_LIBRARY };

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
