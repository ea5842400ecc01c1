/*
 * taken.h: the memory that an input takes, by what the sanitizer's allocator
 * gives out: the most at one time since taken_begin(). A process's resident
 * set would do only for what is far beyond everything that came before.
 */
#ifndef TESTS_TAKEN_H
#define TESTS_TAKEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the sanitizers' common interface; gcc has it without a header. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*taken)(const volatile void *, size_t),
	void (*given)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static atomic_llong taken_now, taken_most;

static inline void taken_hook(const volatile void *p, size_t size)
{
	long long now = atomic_fetch_add_explicit(&taken_now, (long long)size,
						  memory_order_relaxed) +
		(long long)size;
	long long most = atomic_load_explicit(&taken_most,
					      memory_order_relaxed);

	(void)p;
	while (now > most &&
	       !atomic_compare_exchange_weak_explicit(&taken_most, &most, now,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static inline void taken_hook_given(const volatile void *p)
{
	if (p != NULL)
		atomic_fetch_sub_explicit(
			&taken_now,
			(long long)__sanitizer_get_allocated_size(p),
			memory_order_relaxed);
}

static inline void taken_begin(void)
{
	static bool installed;

	if (!installed)
		__sanitizer_install_malloc_and_free_hooks(taken_hook,
							  taken_hook_given);
	installed = true;
	atomic_store(&taken_now, 0);
	atomic_store(&taken_most, 0);
}

/* Bytes. */
static inline uint64_t taken_at_most(void)
{
	return (uint64_t)atomic_load(&taken_most);
}

#endif
