/*
 * claim.h: what must be true, said where it is relied on.
 *
 *	CLAIM(c)	always compiled: where one comparison costs nothing that
 *			can be measured, on slow branches
 *	CLAIM_FULL(c)	with GNOMON_CLAIMS only: whole structures (x_is_valid).
 *			Unit tests, fuzz targets, sanitizers, fault builds
 *
 * A claim is about what this code itself has made. What comes from outside (a
 * trace, a file, the live mapping as the recorder sees it) may be anything: it
 * is checked, and refused by name, and never claimed.
 *
 * In a target nothing ends and nothing waits: claim_failed tells the embedder,
 * once, and the code goes on. CLAIM answers whether it holds, for where going
 * on would read or write what is not there. In programs of our own a claim is
 * an assert; NDEBUG is not defined for any of them.
 *
 * x_is_valid() is compiled with GNOMON_CLAIMS only, changes nothing, and takes
 * bounded time where it is claimed at each call.
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

/* Who is told: set once by the embedder. NULL: nobody, and with GNOMON_CLAIMS
 * the program ends, which is a test. */
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
