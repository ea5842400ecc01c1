/*
 * skip.c: see skip.h.
 *
 * REALLOC is the end of one block and the start of another. Each may be
 * recorded or not:
 *
 *	old, new	what is recorded
 *	yes, yes	REALLOC_BEGIN, REALLOC_DONE
 *	yes, no		REALLOC_BEGIN, REALLOC_FREED
 *	no, yes		               ALLOC
 *	no, no
 *
 * Between the two, `moving` of the thread has an entry (enum skip_begin) for
 * each pending realloc, the innermost (of a signal handler) lowest. A handler
 * that is left by a longjmp may leave one entry too many; those above it are
 * still paired correctly. There is no entry if the thread began to choose in
 * the middle of a realloc, by a signal handler: then its end is recorded, too.
 *
 * TEMPORARY blocks are freed before their thread allocates another one. A
 * reader sees only recorded blocks. So before the free of its last recorded
 * block the thread records that it has allocated others (GT_EXTRA_LEFT_OUT). It
 * has not counted blocks that the sampler left out: it records the most that
 * there may have been, which is their bytes.
 *
 * EXCLUDED BLOCKS. Blocks that are not recorded because of their size, or
 * because their thread is inactive, are counted by size class, per thread. A
 * thread's counters are kept for the next thread with the same ring, so sums
 * over all threads never decrease. Blocks that the sampler leaves out are not
 * counted: readers estimate them.
 */
#include "preload/sample/skip.h"

#include "preload/interpose/patched_code.h"
#include "preload/interpose/real.h"
#include "preload/ring/ring.h"

uint8_t skip_mode;

static void skip_count(const struct thread *thread, uint64_t size)
{
	struct gl_thread *report = thread->report;
	unsigned class = size ? 64 - (unsigned)__builtin_clzll(size) : 0;

	if (unlikely(!report))
		return;		/* a child (fork_copy.h) */
	DEBUG_ASSERT(class < GT_CLASSES);
	/* a reader that misses it reads it again later */
	atomic_store_explicit(&report->rests, 1, memory_order_relaxed);
	report->rest[class][GT_REST_ALLOCATIONS]++;
	report->rest[class][GT_REST_BYTES] += size;
}

/* Whether a new block is recorded. */
static bool skip_is_kept(struct thread *thread, uint64_t size)
{
	if (thread->skip & THREAD_INACTIVE || size < sample->limits.size_min ||
	    size > sample->limits.size_max) {
		skip_count(thread, size);
		thread->passed++;
		return false;
	}
	return !sample->limits.mean ||
	       sampler_take(&thread->sampler, size, sample->limits.mean);
}

bool skip_by_size(struct thread *thread, unsigned kind, uint64_t size)
{
	int64_t left = thread->sampler.until - sampler_length(size);

	/* calls of a real function are part of the call of that function */
	if (unlikely(real.reenters) || unlikely(patched_code_any()) ||
	    unlikely(producer_is_behind(producer, thread)) ||
	    (kind != GT_ALLOC && skip_pending(thread) != SKIP_BEGIN_LEFT_OUT))
		return false;
	if (size < sample->limits.size_min || size > sample->limits.size_max) {
		if (!skip_dormant()) {
			skip_count(thread, size);
			thread->passed++;
		}
	} else if (sample->limits.mean && left > 0) {
		thread->sampler.until = left;
	} else {
		return false;
	}
	if (kind != GT_ALLOC)
		skip_pop(thread);
	return true;
}

/* The block as its free names it: without the chunk header, with the heap. */
static uint64_t skip_key(uint64_t word1)
{
	uint64_t known = (uint64_t)GL_HEADER_KNOWN << GL_HEADER_SHIFT;

	return word1 & known ? word1 & GL_ADDRESS_MASK : word1;
}

/* Applies pending changes, before an event that is not the second half of
 * another. */
static void skip_poll(struct thread *thread, unsigned kind)
{
	if ((unlikely(thread->skip & THREAD_CHANGED) ||
	     unlikely(producer_is_behind(producer, thread))) &&
	    (kind == GT_ALLOC || kind == GT_FREE || kind == GT_REALLOC_BEGIN)) {
		skip_update();
		skip_thread(thread);
	}
}

BASE_SLOW void skip_extra(struct thread *thread)
{
	if (!thread->moving)
		skip_poll(thread, GT_ALLOC);
}

BASE_SLOW unsigned skip_block_kind(struct thread *thread, unsigned kind,
				   uint64_t word1, uint64_t size)
{
	enum skip_begin begin = SKIP_BEGIN_LEFT_OUT;
	bool taken;

	skip_poll(thread, kind);
	if (!(thread->skip & (THREAD_SAMPLES | THREAD_INACTIVE)))
		return kind;
	if (kind == GT_REALLOC_DONE)
		begin = skip_pop(thread);
	taken = begin == SKIP_BEGIN_FAST || skip_is_kept(thread, size);
	if (taken) {
		thread->last = skip_key(word1);
		thread->passed = 0;
		thread->since = thread->sampler.until;
	}
	if (taken && thread->skip & THREAD_SAMPLES)
		sampled_set_add(&sample->sampled_set, skip_key(word1));
	if (taken)
		return begin == SKIP_BEGIN_LEFT_OUT ? GT_ALLOC : kind;
	return begin == SKIP_BEGIN_RECORDED ? GT_REALLOC_FREED : SKIP_EVENT;
}

uint64_t skip_passed(struct thread *thread, uint64_t block)
{
	int64_t bytes = thread->since - thread->sampler.until;
	uint64_t passed = thread->passed;

	if (sample->limits.mean)
		passed += bytes > 0 ? (uint64_t)bytes : 0;
	else if (block != thread->last)
		return 0;
	thread->passed = 0;
	thread->since = thread->sampler.until;
	return passed;
}

BASE_SLOW unsigned skip_address_kind(struct thread *thread, unsigned kind,
				     uint64_t address)
{
	bool chooses, known;

	skip_poll(thread, kind);
	chooses = thread->skip & THREAD_SAMPLES;
	if (!chooses && !(thread->skip & THREAD_INACTIVE))
		return kind;
	if (kind == GT_FREE || kind == GT_REALLOC_BEGIN) {
		known = !chooses ||
			sampled_set_remove(&sample->sampled_set, address);
		if (kind == GT_REALLOC_BEGIN) {
			skip_push(thread, known ? SKIP_BEGIN_RECORDED :
						  SKIP_BEGIN_LEFT_OUT);
			thread->moved = address;
		}
	} else {
		known = skip_pop(thread) != SKIP_BEGIN_LEFT_OUT;
		if (known && chooses && kind == GT_REALLOC_FAILED)
			sampled_set_add(&sample->sampled_set, address);
	}
	return known ? kind : SKIP_EVENT;
}

void skip_dormant_block(struct thread *thread, unsigned kind, uint64_t size)
{
	if (kind == GT_REALLOC_DONE)
		skip_pop(thread);
	if (sample->limits.mean)
		sampler_take(&thread->sampler, size, sample->limits.mean);
}

void skip_dormant_address(struct thread *thread, unsigned kind,
			  uint64_t address)
{
	if (kind == GT_FREE || kind == GT_REALLOC_BEGIN)
		sampled_set_remove(&sample->sampled_set, address);
	if (kind == GT_REALLOC_BEGIN)
		skip_push(thread, SKIP_BEGIN_LEFT_OUT);
	else if (kind != GT_FREE)
		skip_pop(thread);
}

/* Whether some sizes are not recorded. */
static bool skip_has_limits(void)
{
	return sample->limits.size_min > 0 ||
	       sample->limits.size_max < UINT64_MAX;
}

/* Later limits make the set incomplete: then only threads that know of them use
 * the set. Returns whether skip_mode has changed. */
static bool skip_set_mode(bool dormant, bool chooses)
{
	enum skip_mode way = SKIP_PERHAPS;

	if (real_only && chooses)
		way = SKIP_SAMPLED;
	else if (real_only && !dormant)
		way = SKIP_NONE;
	/* all threads read it at each event */
	if (__atomic_load_n(&skip_mode, __ATOMIC_RELAXED) == way)
		return false;
	__atomic_store_n(&skip_mode, way, __ATOMIC_RELAXED);
	return true;
}

void skip_start(uint64_t seed)
{
	const uint64_t *number = producer_options.number;

	sample->seed = seed;
	sample->limits.mean = number[OPTION_SAMPLE];
	sample->limits.size_min = number[OPTION_MIN_SIZE];
	sample->limits.size_max = number[OPTION_MAX_SIZE];
	skip_set_mode(false, sample->limits.mean || skip_has_limits());
}

void skip_update(void)
{
	bool chooses = __atomic_load_n(&skip_mode, __ATOMIC_RELAXED) ==
		       SKIP_SAMPLED;

	/* a thread that changes it checks again, so that the last value is
	 * right */
	while (skip_set_mode(skip_dormant(), chooses))
		atomic_thread_fence(memory_order_seq_cst);
}

void skip_thread(struct thread *thread)
{
	bool chooses, looks;
	uint32_t activity;

	/* pairs with the release of ring_change, which publishes limits and
	 * activity */
	thread->generation = atomic_load_explicit(&producer->generation,
						  memory_order_acquire);
	activity = atomic_load_explicit(&sample->activity,
					memory_order_relaxed);
	chooses = sample->limits.mean || skip_has_limits();
	looks = skip_has_limits() || real.reenters || patched_code_any();
	/* a thread that reuses the struct of an older one continues its line:
	 * the remaining distance has the same distribution (sampler.c) */
	if (sample->limits.mean && !thread->sampler.random)
		sampler_begin(&thread->sampler,
			      sample->seed + atomic_fetch_add_explicit(
					       &sample->samplers, 1,
					       memory_order_relaxed),
			      sample->limits.mean);
	producer_set_skip(thread, THREAD_CHANGED, false);
	if ((thread->activity ^ activity) >> 1)
		producer_set_skip(thread, THREAD_INACTIVE, activity & 1);
	thread->activity = activity;
	producer_set_skip(thread, THREAD_SAMPLES, chooses);
	producer_set_skip(thread, THREAD_CHECKS, chooses && looks);
}

static void skip_changed(struct producer *p)
{
	ring_change(p);
	if (producer_tls && producer_tls->own)
		skip_thread(producer_tls);
}

void skip_set_limits(struct producer *p, uint64_t size_min, uint64_t size_max)
{
	DEBUG_ASSERT(size_min <= size_max);
	/* blocks recorded before are not in the set, unless a sampler ran */
	if (!sample->limits.mean)
		sampled_set_incomplete(&sample->sampled_set);
	sample->limits.size_min = size_min;
	sample->limits.size_max = size_max;
	if (size_min || size_max < UINT64_MAX)
		atomic_store_explicit(&p->shared->partial, 1,
				      memory_order_relaxed);
	skip_changed(p);
}

void skip_set_activity(struct producer *p, bool inactive, bool all)
{
	uint32_t old = atomic_load_explicit(&sample->activity,
					    memory_order_relaxed);

	if (inactive)
		atomic_store_explicit(&p->shared->partial, 1,
				      memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(
		&sample->activity, &old,
		((old & ~1u) + (all ? 2 : 0)) | inactive,
		memory_order_relaxed, memory_order_relaxed))
		;
	if (all)
		skip_changed(p);
}

void skip_set_inactive(struct producer *p, struct thread *thread, bool inactive)
{
	if (inactive)
		atomic_store_explicit(&p->shared->partial, 1,
				      memory_order_relaxed);
	producer_set_skip(thread, THREAD_INACTIVE, inactive);
}
