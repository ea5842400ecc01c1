/*
 * tid.c: see tid.h. C libraries store the thread id in the block that the
 * thread pointer points to, at different offsets. The offset is found by
 * comparing words of the block with the ids of known threads; after two threads
 * hardly more than one offset is left. Once found it is constant in a process
 * image. A forked child keeps it; its C library writes the new id there.
 */
#include "preload/base/tid.h"

#include <stdatomic.h>
#include <stdint.h>

#include "arch.h"
#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "unwind/base/memory.h"

#define TID_PLACES 256		/* words of 4 bytes; glibc's is the 180th */
#define TID_WORDS (TID_PLACES / 64)

/* Possible offsets, one bit each; before the first comparison: all. */
static _Atomic uint64_t tid_places[TID_WORDS] = { -1, -1, -1, -1 };
static _Atomic bool tid_looked;

static const int32_t *tid_block(void)
{
	return (const int32_t *)arch_thread_pointer();
}

static void tid_learn(int tid)
{
	const int32_t *block = tid_block();
	unsigned word;

	if (!atomic_load_explicit(&tid_looked, memory_order_relaxed) &&
	    !unwind_readable((uintptr_t)&block[TID_PLACES - 2]))
		return;
	for (word = 0; word < TID_WORDS; word++) {
		uint64_t old = atomic_load_explicit(&tid_places[word],
						    memory_order_relaxed);
		uint64_t left = old, bits;

		for (bits = old; bits; bits &= bits - 1) {
			unsigned bit = __builtin_ctzll(bits);

			if (block[word * 64 + bit] != tid)
				left &= ~(UINT64_C(1) << bit);
		}
		if (left != old)
			atomic_fetch_and_explicit(&tid_places[word], left,
						  memory_order_relaxed);
	}
	atomic_store_explicit(&tid_looked, true, memory_order_relaxed);
}

int tid_own(void)
{
	unsigned word;
	int tid;

	if (unwind_may(UNWIND_NO_IDS)) {
		tid = sys_gettid();
		tid_learn(tid);
		return tid;
	}
	for (word = 0; word < TID_WORDS; word++) {
		uint64_t bits = atomic_load_explicit(&tid_places[word],
						     memory_order_relaxed);

		if (bits && atomic_load_explicit(&tid_looked,
						 memory_order_relaxed))
			return tid_block()[word * 64 + __builtin_ctzll(bits)];
	}
	return 0;
}
