/*
 * jit.c: the list of tables registered at run time.
 *
 * One array of slots, searched linearly up to the highest ever used. The rule
 * cache precedes it, so a search is made once for each return address, not for
 * each walk. A tree would save that time, but need memory that is never freed,
 * or a lock that a signal handler may find taken.
 *
 *	       claim                    publish
 *	FREE ────────▶ CLAIMED ─────────────────▶ key
 *	  ▲                                        │ jit_deregister
 *	  ├──────────── never walked ──────────────┤
 *	  └── jit_sweep ◀── DEAD ◀──── walked ─────┘
 *
 * Code that a walk has met has nodes in the context tree, and rules in the
 * cache. Its removal increments image_generation; the first capture that sees
 * the increment sweeps (image_refresh), before a walk can meet new code at the
 * same place.
 *
 * A program should not unmap tables before it deregisters them, but may do so
 * without noticing; so all their pages are probed before they are read.
 *
 * I1  A slot's fields are written only while it is CLAIMED.
 * I2  Tables are read only while the slot's `readers` is raised, and only if
 *     the key, read again after raising it, is unchanged.
 * I3  jit_deregister waits for the readers, but not for ever: a reader may be
 *     interrupted by the handler that deregisters, or a jump may have left it.
 *
 * Thread context: any thread, also signal handlers; no locks.
 */
#include <errno.h>
#include <stdatomic.h>

#include "unwind/base/assertion.h"
#include "unwind/base/capture_config.h"
#include "unwind/base/context.h"
#include "unwind/base/memory.h"
#include "unwind/image/gdbjit.h"
#include "unwind/image/image.h"
#include "unwind/image/jit.h"
#include "unwind/rules/rules_image.h"

#define JIT_SLOTS 65536u	/* LLVM registers once an object file */
#define JIT_SIZE_MAX (64u << 20)	/* of one table */
#define JIT_RECORDS_MAX (1u << 20)
#define JIT_WAIT_SPINS 100000	/* some 2 ms */

/* Keys are addresses of tables, and none lies in the first page. */
enum jit_state { JIT_FREE, JIT_CLAIMED, JIT_DEAD, JIT_STATES };

/* The fields that a search reads, in an array of their own. */
struct jit_range {
	_Atomic uintptr_t key;	/* or enum jit_state */
	_Atomic uintptr_t start, end;	/* the code */
};

struct jit_slot {
	struct jit_tables tables;
	uintptr_t low;		/* lowest byte read: a CIE may lie before */
	_Atomic uint32_t readers;
	_Atomic uint32_t met;	/* by a walk, which may have left nodes and
				 * rules */
	uint32_t round;		/* of gdbjit.c */
};

static struct {
	struct jit_range range[JIT_SLOTS];
	struct jit_slot slot[JIT_SLOTS];
	_Atomic uint32_t used;	/* slots from this one on were never used */
	_Atomic uint32_t free;	/* a hint: where to search first */
	_Atomic uint32_t dead;	/* number of slots to sweep; may be too high */
	_Atomic uint32_t count;	/* of tables registered */
	_Atomic uint32_t refused;
	uint32_t round;
	struct capture_tables *const *counts;	/* capture_config.tables */
} jit;

static void count_up(_Atomic uint32_t *to, const _Atomic uint32_t *from)
{
	uint32_t figure;

	/* The recorder reads the source again, so that the last value is
	 * right. */
	do {
		figure = atomic_load_explicit(from, memory_order_seq_cst);
		atomic_store_explicit(to, figure, memory_order_seq_cst);
	} while (figure != atomic_load_explicit(from, memory_order_seq_cst));
}

static void count_up_all(void)
{
	struct capture_tables *counts = jit.counts ? *jit.counts : NULL;

	if (!counts)
		return;
	count_up(&counts->registered, &jit.count);
	count_up(&counts->refused, &jit.refused);
}

bool jit_readable(uintptr_t from, size_t size)
{
	const uintptr_t word = sizeof(uint64_t);
	uintptr_t page;

	if (size < word || from + size < from || !unwind_readable(from))
		return false;
	for (page = (from | (UNWIND_PAGE - 1)) + 1; page < from + size;
	     page += UNWIND_PAGE)
		if (!unwind_readable(page))
			return false;
	return unwind_readable(from + size - word);
}

static uint32_t slots_used(void)
{
	return atomic_load_explicit(&jit.used, memory_order_acquire);
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool slot_is(uint32_t index, enum jit_state state)
{
	return atomic_load_explicit(&jit.range[index].key,
				    memory_order_relaxed) == state;
}

/* The invariants of a slot by its key. */
static bool slot_is_valid(uint32_t index)
{
	const struct jit_slot *s = &jit.slot[index];
	uintptr_t key = atomic_load_explicit(&jit.range[index].key,
					     memory_order_acquire);
	bool rises = atomic_load_explicit(&jit.range[index].start,
					  memory_order_relaxed) <
		     atomic_load_explicit(&jit.range[index].end,
					  memory_order_relaxed);

	return key == JIT_FREE || key == JIT_CLAIMED ||
	       (rises && (key == JIT_DEAD || (s->tables.key == key &&
					      s->tables.size > 0)));
}

bool jit_is_valid(void)
{
	uint32_t i, registered = 0, used = slots_used();

	if (used > JIT_SLOTS)
		return false;
	for (i = 0; i < JIT_SLOTS; i++) {
		bool keyed = atomic_load_explicit(&jit.range[i].key,
						  memory_order_relaxed) >=
			     JIT_STATES;

		registered += keyed;
		if (i < used ? !slot_is_valid(i) : keyed)
			return false;
	}
	return registered == jit_count();
}
#endif

static bool claim(uint32_t *index)
{
	uint32_t i, from = atomic_load_explicit(&jit.free,
						memory_order_relaxed);

	for (i = 0; i < JIT_SLOTS; i++) {
		uintptr_t state = JIT_FREE;

		*index = (from + i) % JIT_SLOTS;
		if (atomic_compare_exchange_strong_explicit(
			    &jit.range[*index].key, &state, JIT_CLAIMED,
			    memory_order_acquire, memory_order_relaxed))
			return true;
	}
	return false;
}

static void give_back(uint32_t index)
{
	ASSERT(index < JIT_SLOTS);
	DEBUG_ASSERT(slot_is(index, JIT_CLAIMED) || slot_is(index, JIT_DEAD));
	/* Pairs with the acquire in claim. */
	atomic_store_explicit(&jit.range[index].key, JIT_FREE,
			      memory_order_release);
	if (index < atomic_load_explicit(&jit.free, memory_order_relaxed))
		atomic_store_explicit(&jit.free, index, memory_order_relaxed);
}

static void publish(uint32_t index, uintptr_t key)
{
	uint32_t used = atomic_load_explicit(&jit.used, memory_order_relaxed);

	ASSERT(index < JIT_SLOTS);
	ASSERT(key >= JIT_STATES || key == JIT_DEAD);
	DEBUG_ASSERT(slot_is(index, JIT_CLAIMED));	/* I1 */
	atomic_store_explicit(&jit.free, index + 1, memory_order_relaxed);
	/* Pairs with the acquire in next. */
	atomic_store_explicit(&jit.range[index].key, key,
			      memory_order_release);
	while (used <= index &&
	       !atomic_compare_exchange_weak_explicit(
		       &jit.used, &used, index + 1, memory_order_release,
		       memory_order_relaxed))
		;
}

static bool read_u32(uintptr_t at, uint32_t *value)
{
	/* Records are aligned to 4 bytes, in good tables. */
	if (at & 3 || !unwind_readable(at & ~(uintptr_t)7))
		return false;
	*value = *(const uint32_t *)at;
	return true;
}

/* The end of the table: its terminator, or the end of a lone FDE, whose CIE is
 * then at *low. 0: malformed. */
static uintptr_t find_end(uintptr_t frames, uintptr_t *low)
{
	uint32_t length, id, n;
	uintptr_t at = frames;

	for (n = 0; n < JIT_RECORDS_MAX; n++) {
		if (!read_u32(at, &length) || length > JIT_SIZE_MAX)
			return 0;
		if (length == 0)
			return at + 4;
		if (!read_u32(at + 4, &id))
			return 0;
		if (n == 0 && id != 0) {
			*low = at + 4 - id;
			return id < JIT_SIZE_MAX ? at + 4 + length : 0;
		}
		at += 4 + (uintptr_t)length;
		if (at - frames > JIT_SIZE_MAX)
			return 0;
	}
	return 0;
}

static void tables_of(const struct jit_slot *s, struct cfi_tables *tables)
{
	const struct jit_tables *t = &s->tables;

	*tables = (struct cfi_tables){
		.readable_start = s->low,
		.readable_end = t->frames + t->size,
		.frames = t->frames,
		.frames_end = t->frames + t->size,
		.header = t->data,
		.text = t->text,
	};
}

/* Fills a claimed slot. */
static bool slot_fill(uint32_t index, const struct jit_tables *tables)
{
	struct jit_range *r = &jit.range[index];
	struct jit_slot *s = &jit.slot[index];
	struct cfi_tables cfi;
	uintptr_t end, start;

	DEBUG_ASSERT(slot_is(index, JIT_CLAIMED));	/* I1 */
	s->tables = *tables;
	s->low = tables->frames;
	s->round = jit.round;
	end = tables->size ? tables->frames + tables->size :
			     find_end(tables->frames, &s->low);
	if (end <= tables->frames || end - s->low > 2 * JIT_SIZE_MAX ||
	    !jit_readable(s->low, end - s->low))
		return false;
	s->tables.size = end - tables->frames;
	tables_of(s, &cfi);
	if (!cfi_span(&cfi, &start, &end))
		return false;
	ASSERT(start < end);
	atomic_store_explicit(&s->met, 0, memory_order_relaxed);
	atomic_store_explicit(&r->start, start, memory_order_relaxed);
	atomic_store_explicit(&r->end, end, memory_order_relaxed);
	return true;
}

bool jit_register(const struct jit_tables *tables)
{
	uint32_t index;

	if (tables->key >= JIT_STATES && claim(&index)) {
		if (slot_fill(index, tables)) {
			/* First: another thread may deregister it at once. */
			atomic_fetch_add_explicit(&jit.count, 1,
						  memory_order_seq_cst);
			DEBUG_ASSERT(jit_count() <= JIT_SLOTS);
			publish(index, tables->key);
			count_up_all();
			return true;
		}
		give_back(index);
	}
	atomic_fetch_add_explicit(&jit.refused, 1, memory_order_seq_cst);
	count_up_all();
	return false;
}

/* I3 */
static void wait_for_readers(const struct jit_slot *s)
{
	unsigned spin;

	for (spin = 0; spin < JIT_WAIT_SPINS &&
		       atomic_load_explicit(&s->readers, memory_order_seq_cst);
	     spin++)
		arch_pause();
}

static void tell_dead(void)
{
	/* Pairs with the acquire in jit_sweep, and with that of the next
	 * capture. */
	atomic_fetch_add_explicit(&jit.dead, 1, memory_order_release);
	atomic_fetch_add_explicit(&image_generation, 1,
				  memory_order_release);
}

static void slot_end(uint32_t index)
{
	struct jit_slot *s = &jit.slot[index];

	DEBUG_ASSERT(slot_is(index, JIT_CLAIMED));
	wait_for_readers(s);
	if (!atomic_load_explicit(&s->met, memory_order_relaxed)) {
		give_back(index);
		return;
	}
	atomic_store_explicit(&jit.range[index].key, JIT_DEAD,
			      memory_order_release);
	tell_dead();
}

void jit_replaced(uintptr_t start, uintptr_t end)
{
	uint32_t index;

	/* Without a slot the old code's nodes and rules are used for the
	 * new. */
	if (!claim(&index))
		return;
	DEBUG_ASSERT(slot_is(index, JIT_CLAIMED));	/* I1 */
	atomic_store_explicit(&jit.range[index].start, start,
			      memory_order_relaxed);
	atomic_store_explicit(&jit.range[index].end, end,
			      memory_order_relaxed);
	publish(index, JIT_DEAD);
	tell_dead();
}

void jit_deregister(uintptr_t key)
{
	uint32_t i, used = slots_used();

	for (i = 0; i < used && key >= JIT_STATES; i++) {
		uintptr_t wanted = key;

		/* Pairs with the second read of the key in pin: either that
		 * read sees the key gone, or this thread sees the reader. */
		if (atomic_load_explicit(&jit.range[i].key,
					 memory_order_relaxed) == key &&
		    atomic_compare_exchange_strong_explicit(
			    &jit.range[i].key, &wanted, JIT_CLAIMED,
			    memory_order_seq_cst, memory_order_relaxed)) {
			atomic_fetch_sub_explicit(&jit.count, 1,
						  memory_order_seq_cst);
			DEBUG_ASSERT(jit_count() < JIT_SLOTS);
			slot_end(i);
		}
	}
	count_up_all();
}

bool jit_sweep(void)
{
	uint32_t i, used = slots_used();

	if (!atomic_exchange_explicit(&jit.dead, 0, memory_order_acquire))
		return false;
	DEBUG_ASSERT(used <= JIT_SLOTS);
	for (i = 0; i < used; i++) {
		struct jit_range *r = &jit.range[i];

		if (atomic_load_explicit(&r->key, memory_order_acquire) !=
		    JIT_DEAD)
			continue;
		/* A return address lies one past the call. */
		context_forget(atomic_load_explicit(&r->start,
						    memory_order_relaxed) + 1,
			       atomic_load_explicit(&r->end,
						    memory_order_relaxed) + 1,
			       0);
		give_back(i);
	}
	return true;
}

void jit_init(struct capture_tables *const *tables)
{
	uint32_t i, used = slots_used();

	jit.counts = tables;
	count_up_all();
	for (i = 0; i < used; i++) {
		struct jit_slot *s = &jit.slot[i];

		atomic_store_explicit(&s->readers, 0, memory_order_relaxed);
		atomic_store_explicit(&s->met, 0, memory_order_relaxed);
		if (atomic_load_explicit(&jit.range[i].key,
					 memory_order_relaxed) == JIT_DEAD)
			give_back(i);
	}
	atomic_store_explicit(&jit.dead, 0, memory_order_relaxed);
}

/* Finds the next slot from *index on whose code may contain pc. */
static bool next(uint32_t *index, uintptr_t pc, uintptr_t *key)
{
	uint32_t used = slots_used();

	DEBUG_ASSERT(used <= JIT_SLOTS);
	for (; *index < used; ++*index) {
		struct jit_range *r = &jit.range[*index];

		/* Pairs with the release in publish. */
		*key = atomic_load_explicit(&r->key, memory_order_acquire);
		if (*key >= JIT_STATES &&
		    pc >= atomic_load_explicit(&r->start,
					       memory_order_relaxed) &&
		    pc < atomic_load_explicit(&r->end, memory_order_relaxed))
			return true;
	}
	return false;
}

static void unpin(uint32_t index)
{
	atomic_fetch_sub_explicit(&jit.slot[index].readers, 1,
				  memory_order_release);
}

/* I2. On success *image can be passed to the functions of rules.h. */
static bool pin(uint32_t index, uintptr_t key, struct rules_image *image)
{
	struct jit_range *r = &jit.range[index];
	struct jit_slot *s = &jit.slot[index];

	atomic_fetch_add_explicit(&s->readers, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&r->key, memory_order_seq_cst) == key &&
	    jit_readable(s->low, s->tables.frames + s->tables.size - s->low)) {
		*image = (struct rules_image){
			.text_start = atomic_load_explicit(
				&r->start, memory_order_relaxed),
			.text_end = atomic_load_explicit(
				&r->end, memory_order_relaxed),
		};
		tables_of(s, &image->tables);
		atomic_store_explicit(&s->met, 1, memory_order_relaxed);
		DEBUG_ASSERT(image->text_start < image->text_end);
		return true;
	}
	unpin(index);
	return false;
}

static uint16_t find(uintptr_t pc, bool *constant)
{
	struct rules_image image;
	uint32_t i;
	uintptr_t key;

	for (i = 0; next(&i, pc, &key); i++) {
		uint16_t id;

		if (!pin(i, key, &image))
			continue;
		id = rules_find(&image, pc);
		DEBUG_ASSERT(id < rules_count());
		*constant = !jit.slot[i].tables.shown;
		unpin(i);
		if (id)
			return id;
	}
	return 0;
}

uint16_t jit_find(uintptr_t pc, bool *constant)
{
	uint16_t id;

	gdbjit_check();
	id = find(pc, constant);
	if (!id)
		*constant = false;
	return id;
}

int jit_step(struct arch_regs *regs, bool pc_exact, bool *is_signal,
	     bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
	     void *ctx)
{
	uintptr_t pc = (uintptr_t)regs->r[ARCH_REG_PC] - !pc_exact, key;
	const struct arch_regs before = *regs;
	struct rules_image image;
	int err = -ENOENT;
	uint32_t i;

	gdbjit_check();
	for (i = 0; err == -ENOENT && next(&i, pc, &key); i++) {
		if (!pin(i, key, &image))
			continue;
		*regs = before;
		err = rules_step_full(&image, regs, pc_exact, is_signal, read,
				      ctx);
		unpin(i);
	}
	return err;
}

void jit_round_begin(void)
{
	jit.round++;
}

bool jit_round_keep(uintptr_t key)
{
	uint32_t i, used = slots_used();

	for (i = 0; i < used; i++)
		if (atomic_load_explicit(&jit.range[i].key,
					 memory_order_acquire) == key) {
			jit.slot[i].round = jit.round;
			return true;
		}
	return false;
}

void jit_round_end(void)
{
	uint32_t i, used = slots_used();

	for (i = 0; i < used; i++) {
		uintptr_t key = atomic_load_explicit(&jit.range[i].key,
						     memory_order_acquire);

		if (key >= JIT_STATES && jit.slot[i].tables.shown &&
		    jit.slot[i].round != jit.round)
			jit_deregister(key);
	}
}

uint32_t jit_count(void)
{
	return atomic_load_explicit(&jit.count, memory_order_relaxed);
}

uint32_t jit_refused(void)
{
	return atomic_load_explicit(&jit.refused, memory_order_relaxed);
}
