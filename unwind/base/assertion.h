/*
 * assertion.h: assertions, in two levels of cost.
 *
 *	ASSERT(c)	always compiled: on slow branches, where one comparison
 *			has no measurable cost
 *	DEBUG_ASSERT(c)	with GNOMON_DEBUG_ASSERTS only: whole structures
 *			(x_is_valid). Unit tests, fuzz targets, sanitizers,
 *			fault builds
 *
 * An assertion states what this code itself guarantees. Input from outside (a
 * trace, a file, the live mapping as the recorder sees it) may be anything: it
 * is checked and rejected with a named error, never asserted.
 *
 * In a target a failed assertion neither ends nor blocks the program:
 * assertion_failed notifies the embedder once, and execution continues. ASSERT
 * returns whether the condition holds, for callers that must not continue with
 * an invalid access. In our own programs ASSERT is assert(); NDEBUG is not
 * defined for any of them.
 *
 * x_is_valid() is compiled with GNOMON_DEBUG_ASSERTS only and changes nothing.
 * It takes bounded time if it is asserted at each call.
 */
#ifndef GNOMON_UNWIND_ASSERTION_H
#define GNOMON_UNWIND_ASSERTION_H

#include <assert.h>
#include <stdbool.h>

#ifdef GNOMON_TARGET

/* "file:line: text", a constant. Always false. Any thread, also signal
 * handlers; errno is kept. */
__attribute__((noinline, visibility("hidden")))
bool assertion_failed(const char *which);

/* Called at each failed assertion; set once by the embedder. NULL: nobody is
 * notified; with GNOMON_DEBUG_ASSERTS the program then ends, which is a
 * test. */
extern __attribute__((visibility("hidden")))
void (*assertion_notify)(const char *which);

#define ASSERT_TEXT_(x) #x
#define ASSERT_TEXT(x) ASSERT_TEXT_(x)
#define ASSERT(c)                                                           \
	({                                                                  \
		bool assertion_holds_ = __builtin_expect(!!(c), 1) ||       \
					assertion_failed(                   \
						__FILE__ ":" ASSERT_TEXT(   \
							__LINE__) ": " #c); \
		assertion_holds_;                                           \
	})

#else
#define ASSERT(c) ({ assert(c); true; })
#endif

#ifdef GNOMON_DEBUG_ASSERTS
#define DEBUG_ASSERT(c) ASSERT(c)
#else
#define DEBUG_ASSERT(c) ((void)0)
#endif

#endif
