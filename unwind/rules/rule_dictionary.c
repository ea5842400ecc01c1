/*
 * rule_dictionary.c: maps rule ids to rules and rules to ids.
 *
 *	rules_dictionary   [0 none][1 bad][2 complex][3 ...]   8 bytes each
 *	level[0 ..]        open-addressed hash tables of ids, 0 is empty; each
 *	                   larger than the one before, made when that is full
 *
 * To add a rule, a thread takes the next id, stores the rule there, then tries
 * to put the id into the first empty slot of the rule's probe sequence, in the
 * first level that is not full. If another thread has stored the same rule
 * first, its id is used and ours stays an unused duplicate. That is harmless,
 * and as rare as two threads adding the same rule within nanoseconds. So no
 * thread ever waits, and a signal handler may interrupt at any point. The list
 * itself is one reservation: pages without rules are never touched.
 *
 * Called by any thread, also in signal handlers; rule_dictionary_init by one
 * thread before all others.
 *
 * I1  An id is in a slot only after its rule was written.
 * I2  A written rule never changes, nor does a slot that is not 0.
 * I3  The probe sequence of every rule of I1 reaches it without an empty slot
 *     in between, in the first level that is not full or in one before it. A
 *     full level stays full.
 */
#include <errno.h>
#include <stdatomic.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/rules/rule_dictionary.h"

enum {
	LEVELS = 4,
	/* Three quarters of the last level's slots. The most that any library
	 * needed is 880, and libraries share most of their rules. */
	RULES_LIMIT = 24576,
	PROBES_MAX = 256
};
_Static_assert(RULES_LIMIT <= RULES_MAX, "numbers are 16 bits");

/* The rules of a small program fit into the first level. */
static const uint8_t level_bits[LEVELS] = { 8, 10, 12, 15 };

struct level {
	_Atomic(_Atomic uint16_t *) slots;
	_Atomic uint32_t used;
};

struct rule *rules_dictionary;
static struct level levels[LEVELS];
static _Atomic uint32_t count;

static size_t level_bytes(unsigned int n)
{
	return sizeof(uint16_t) << level_bits[n];
}

int rule_dictionary_init(void)
{
	static const struct rule first[] = {
		{ .kind = RULE_NONE },
		[RULE_DICTIONARY_BAD] = { .kind = RULE_BAD },
		[RULE_DICTIONARY_COMPLEX] = { .kind = RULE_COMPLEX },
	};
	unsigned int n;

	for (n = 0; n < LEVELS; n++) {
		atomic_store_explicit(&levels[n].slots, NULL,
				      memory_order_relaxed);
		atomic_store_explicit(&levels[n].used, 0,
				      memory_order_relaxed);
	}
	rules_dictionary = unwind_alloc(RULES_LIMIT * sizeof(struct rule));
	if (!rules_dictionary)
		return -ENOMEM;
	atomic_store_explicit(&count, 1, memory_order_relaxed);
	if (rule_dictionary_id(first[RULE_DICTIONARY_BAD]) !=
		    RULE_DICTIONARY_BAD ||
	    rule_dictionary_id(first[RULE_DICTIONARY_COMPLEX]) !=
		    RULE_DICTIONARY_COMPLEX)
		return -ENOMEM;
	DEBUG_ASSERT(rule_dictionary_is_valid());
	return 0;
}

/* Multiplicative hashing (Knuth, volume 3, 6.4). */
static uint32_t hash_word(uint64_t word, unsigned int bits)
{
	return (uint32_t)((word * UINT64_C(0x9e3779b97f4a7c15)) >>
			  (64 - bits));
}

/* Allocates an id and stores the rule there; 0: no ids left. */
static uint16_t take_number(struct rule rule)
{
	uint32_t id = atomic_load_explicit(&count, memory_order_relaxed);

	do {
		if (id >= RULES_LIMIT)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&count, &id, id + 1, memory_order_relaxed,
		memory_order_relaxed));
	ASSERT(id > 0 && id < RULES_LIMIT);
	rules_dictionary[id] = rule;
	return (uint16_t)id;
}

/* The slots of a level, allocated at first use; NULL: no memory. If two threads
 * allocate them at once, one allocation stays unused for ever. */
static _Atomic uint16_t *level_slots(unsigned int n)
{
	/* Pairs with the exchange below: they are all zero. */
	_Atomic uint16_t *slots = atomic_load_explicit(
				&levels[n].slots, memory_order_acquire),
			 *mine;

	if (slots)
		return slots;
	mine = unwind_alloc(level_bytes(n));
	if (!mine)
		return NULL;
	return atomic_compare_exchange_strong_explicit(
		       &levels[n].slots, &slots, mine, memory_order_acq_rel,
		       memory_order_acquire) ? mine : slots;
}

/*
 * The rule's id in one level, where it is added if it is new and the level not
 * full; 0: neither. *mine: the id that we allocated for it, if any.
 */
static uint16_t find_or_put(unsigned int n, struct rule rule, uint16_t *mine)
{
	_Atomic uint16_t *slots = level_slots(n);
	uint32_t size = UINT32_C(1) << level_bits[n], probe, slot;
	uint64_t word, other;
	uint16_t id;

	__builtin_memcpy(&word, &rule, sizeof(word));
	slot = hash_word(word, level_bits[n]);
	DEBUG_ASSERT(slot < size);
	for (probe = 0; slots && probe < PROBES_MAX; probe++) {
		/* Pairs with the exchange below: the rule is there (I1). */
		id = atomic_load_explicit(&slots[slot], memory_order_acquire);
		if (id == 0) {
			if (atomic_load_explicit(&levels[n].used,
						 memory_order_relaxed) >=
			    size / 4 * 3)
				return 0;
			if (*mine == 0)
				*mine = take_number(rule);
			if (*mine == 0)
				return 0;
			/* Release pairs with the loads above. On failure id is
			 * the winner's, and its rule is compared. */
			if (atomic_compare_exchange_strong_explicit(
				    &slots[slot], &id, *mine,
				    memory_order_acq_rel,
				    memory_order_acquire)) {
				atomic_fetch_add_explicit(
					&levels[n].used, 1,
					memory_order_relaxed);
				DEBUG_ASSERT(levels[n].used <= size);
				return *mine;
			}
		}
		DEBUG_ASSERT(id < rules_count());	/* I1 */
		__builtin_memcpy(&other, &rules_dictionary[id], sizeof(other));
		if (other == word)
			return id;
		slot = (slot + 1) % size;
	}
	return 0;
}

uint16_t rule_dictionary_id(struct rule rule)
{
	uint16_t mine = 0, id = 0;
	unsigned int n;

	for (n = 0; n < LEVELS && id == 0; n++)
		id = find_or_put(n, rule, &mine);
	DEBUG_ASSERT(id < rules_count());	/* I1 */
	DEBUG_ASSERT(!id || (rules_dictionary[id].kind == rule.kind &&
			     rules_dictionary[id].cfa_off == rule.cfa_off));
	return id ? id : RULE_DICTIONARY_COMPLEX;
}

uint32_t rules_count(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed);
}

size_t rule_dictionary_bytes(void)
{
	size_t bytes = rules_count() * sizeof(struct rule);
	unsigned int n;

	for (n = 0; n < LEVELS; n++)
		if (atomic_load_explicit(&levels[n].slots,
					 memory_order_relaxed))
			bytes += level_bytes(n);
	return bytes;
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool level_is_valid(unsigned int n)
{
	_Atomic uint16_t *slots = atomic_load_explicit(&levels[n].slots,
						       memory_order_acquire);
	uint32_t i, used = 0, size = UINT32_C(1) << level_bits[n];

	for (i = 0; slots && i < size; i++) {
		uint16_t id = atomic_load_explicit(&slots[i],
						   memory_order_acquire);

		used += id != 0;
		if (id >= rules_count())
			return false;	/* I1 */
	}
	return used == atomic_load_explicit(&levels[n].used,
					    memory_order_relaxed);
}

bool rule_dictionary_is_valid(void)
{
	unsigned int n;

	for (n = 0; n < LEVELS; n++)
		if (!level_is_valid(n))
			return false;
	return rules_count() <= RULES_LIMIT &&
	       rules_dictionary[0].kind == RULE_NONE &&
	       rules_dictionary[RULE_DICTIONARY_BAD].kind == RULE_BAD &&
	       rules_dictionary[RULE_DICTIONARY_COMPLEX].kind == RULE_COMPLEX;
}
#endif
