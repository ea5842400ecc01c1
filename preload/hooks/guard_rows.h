/*
 * guard_rows.h: what hooks ask of guarded blocks and tell of them, while there
 * are some (guard.h).
 *
 * ROWS are functions of an allocator's own (hooks_wrap.h) that such a block may
 * come to, and what stands before them then. The linker collects them from all
 * files that make some; they do nothing before hooks_guard().
 */
#ifndef GNOMON_GUARD_ROWS_H
#define GNOMON_GUARD_ROWS_H

#include "preload/base/base.h"

/* Aligned to its size, so that no linker or compiler puts space between. */
struct guard_row {
	_Alignas(32) void **real;	/* what the wrapper calls; NULL in it: not there */
	void **past;	/* what that was */
	void *instead;	/* calls *past where the block is not guarded */
};

/* Whether it was a guarded block; then it has ended, or become *to (NULL:
 * refused, it lives on). */
bool guard_free_mixed(void *block);
bool guard_realloc_mixed(void *block, size_t size, void **to);

/* Whether it is one, and how large. */
bool guard_size_mixed(void *block, size_t *size);

/* A block was recorded with this context. Whoever got it from the allocator,
 * before the program has it. It may be one that is not guarded. */
void guard_note(uintptr_t block, uint32_t context);

/* A guarded block for an operator new; NULL: the allocator shall see to it. */
void *guard_new(size_t size, size_t alignment);

#define GUARD_ROW(name)                                               \
	static const struct guard_row name##_guard_row                \
		__attribute__((used, section("guard_rows"))) = {      \
			(void **)&name##_real, (void **)&name##_past, \
			(void *)name##_guarded                        \
		}

#define GUARD_FREE(name, parameters, arguments, block)                \
	static void(*name##_past) parameters;                         \
	static void name##_guarded parameters                         \
	{                                                             \
		if (!guard_free_mixed(block))                         \
			name##_past arguments;                        \
	}                                                             \
	GUARD_ROW(name);

#define GUARD_REALLOC(name, parameters, arguments, block, bytes)      \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		void *to;                                             \
                                                                      \
		if (guard_realloc_mixed(block, bytes, &to))           \
			return to;                                    \
		return name##_past arguments;                         \
	}                                                             \
	GUARD_ROW(name);

/* What resizes a block where it is. */
#define GUARD_EXPAND(name, parameters, arguments, block, bytes)       \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		size_t has;                                           \
                                                                      \
		if (guard_size_mixed(block, &has))                    \
			return bytes <= has ? block : NULL;           \
		return name##_past arguments;                         \
	}                                                             \
	GUARD_ROW(name);

/* The same, but it says what the size is then. */
#define GUARD_EXPANDED(name, parameters, arguments, block)            \
	static size_t(*name##_past) parameters;                       \
	static size_t name##_guarded parameters                       \
	{                                                             \
		size_t has;                                           \
                                                                      \
		if (guard_size_mixed(block, &has))                    \
			return has;                                   \
		return name##_past arguments;                         \
	}                                                             \
	GUARD_ROW(name);

/* operator new: throws, if the allocator's own does. */
#define GUARD_NEW(name, parameters, arguments, size, alignment)       \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		void *made = guard_new(size, alignment);              \
                                                                      \
		return made ? made : name##_past arguments;           \
	}                                                             \
	GUARD_ROW(name);

#endif
