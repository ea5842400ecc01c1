/*
 * claim.h: assertions, in two levels of cost.
 *
 *	CLAIM(c)	always compiled: on slow branches, where one comparison
 *			has no measurable cost
 *	CLAIM_FULL(c)	with GNOMON_CLAIMS only: whole structures (x_is_valid).
 *			Unit tests, fuzz targets, sanitizers, fault builds
 *
 * A claim states what this code itself guarantees. Input from outside (a trace,
 * a file, the live mapping as the recorder sees it) may be anything: it is
 * checked and rejected with a named error, never claimed.
 *
 * In a target a failed claim neither ends nor blocks the program: claim_failed
 * notifies the embedder once, and execution continues. CLAIM returns whether
 * the condition holds, for callers that must not continue with an invalid
 * access. In our own programs a claim is an assert; NDEBUG is not defined for
 * any of them.
 *
 * x_is_valid() is compiled with GNOMON_CLAIMS only and changes nothing. It
 * takes bounded time if it is claimed at each call.
 */
#ifndef GNOMON_UNWIND_CLAIM_H
#define GNOMON_UNWIND_CLAIM_H

#include <assert.h>
#include <stdbool.h>

#ifdef GNOMON_TARGET

/* "file:line: text", a constant. Always false. Any thread, also signal
 * handlers; errno is kept. */
__attribute__((noinline, visibility("hidden")))
bool claim_failed(const char *which);

/* Called at the first failed claim: set once by the embedder. NULL: nobody is
 * notified; with GNOMON_CLAIMS the program then ends, which is a test. */
extern __attribute__((visibility("hidden")))
void (*claim_told)(const char *which);

#define CLAIM_TEXT_(x) #x
#define CLAIM_TEXT(x) CLAIM_TEXT_(x)
#define CLAIM(c)                                                            \
	({                                                                  \
		bool claim_holds_ = __builtin_expect(!!(c), 1) ||           \
				    claim_failed(__FILE__ ":" CLAIM_TEXT(   \
					    __LINE__) ": " #c);             \
		claim_holds_;                                               \
	})

#else
#define CLAIM(c) ({ assert(c); true; })
#endif

#ifdef GNOMON_CLAIMS
#define CLAIM_FULL(c) CLAIM(c)
#else
#define CLAIM_FULL(c) ((void)0)
#endif

#endif
