/*
 * dictionary.c: rules by number and numbers by rule.
 *
 *	rules_dictionary   [0 none][1 bad][2 complex][3 ...]   8 bytes each
 *	slots              open hash of the numbers, 0 empty
 *
 * Who brings a new rule takes the next number, writes the rule there, then
 * tries to put the number into the first empty slot of the rule's probe
 * sequence. If another thread was faster and had the same rule, its number is
 * taken and ours stays an unused double: harmless, and as rare as two threads
 * meeting the same new rule within nanoseconds. So nobody ever waits, and a
 * signal handler may interrupt anybody.
 *
 * Called by any thread, also in signal handlers; dictionary_init by one
 * thread before all others.
 *
 * I1  A number is in a slot only after its rule was written.
 * I2  A written rule never changes, nor does a slot that is not 0.
 * I3  Every rule of I1 is found from its hash without an empty slot between.
 */
#include <errno.h>
#include <stdatomic.h>

#include "unwind/dictionary.h"
#include "unwind/memory.h"

enum {
	SLOT_BITS = 15,
	SLOTS = 1 << SLOT_BITS,
	/* Three quarters of the slots; the most that any one library was
	 * seen to need is 880, and libraries share most of theirs. */
	RULES_LIMIT = SLOTS / 4 * 3,
	PROBES_MAX = 256
};
_Static_assert(RULES_LIMIT <= RULES_MAX, "numbers are 16 bits");

struct rule *rules_dictionary;
static _Atomic uint16_t *slots;
static _Atomic uint32_t count;

int dictionary_init(void)
{
	static const struct rule first[] = {
		{ .kind = RULE_NONE },
		[DICTIONARY_BAD] = { .kind = RULE_BAD },
		[DICTIONARY_COMPLEX] = { .kind = RULE_COMPLEX },
	};

	slots = NULL;
	rules_dictionary = unwind_alloc(RULES_LIMIT * sizeof(struct rule));
	if (!rules_dictionary)
		return -ENOMEM;
	slots = unwind_alloc(SLOTS * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	atomic_store_explicit(&count, 1, memory_order_relaxed);
	if (dictionary_id(first[DICTIONARY_BAD]) != DICTIONARY_BAD ||
	    dictionary_id(first[DICTIONARY_COMPLEX]) != DICTIONARY_COMPLEX)
		return -ENOMEM;
	return 0;
}

static uint32_t hash_word(uint64_t word)
{
	/* Multiplicative hashing (Knuth, volume 3, 6.4). */
	return (uint32_t)((word * UINT64_C(0x9e3779b97f4a7c15)) >>
			  (64 - SLOT_BITS));
}

/* A number for the rule, written in its place; 0 when there are no more. */
static uint16_t take_number(struct rule rule)
{
	uint32_t id = atomic_load_explicit(&count, memory_order_relaxed);

	do {
		if (id >= RULES_LIMIT)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&count, &id, id + 1, memory_order_relaxed,
		memory_order_relaxed));
	rules_dictionary[id] = rule;
	return (uint16_t)id;
}

uint16_t dictionary_id(struct rule rule)
{
	uint16_t mine = 0, id;
	uint64_t word, other;
	uint32_t probe, slot;

	__builtin_memcpy(&word, &rule, sizeof(word));
	slot = hash_word(word);
	for (probe = 0; probe < PROBES_MAX; probe++) {
		/* Pairs with the exchange below: the rule is there (I1). */
		id = atomic_load_explicit(&slots[slot], memory_order_acquire);
		if (id == 0) {
			if (mine == 0)
				mine = take_number(rule);
			if (mine == 0)
				return DICTIONARY_COMPLEX;
			/* Release pairs with the loads above. On failure id
			 * is the winner's, and its rule is looked at. */
			if (atomic_compare_exchange_strong_explicit(
				    &slots[slot], &id, mine,
				    memory_order_acq_rel, memory_order_acquire))
				return mine;
		}
		__builtin_memcpy(&other, &rules_dictionary[id], sizeof(other));
		if (other == word)
			return id;
		slot = (slot + 1) % SLOTS;
	}
	return DICTIONARY_COMPLEX;
}

uint32_t rules_count(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed);
}

size_t dictionary_bytes(void)
{
	return slots ? rules_count() * sizeof(struct rule) +
			       SLOTS * sizeof(*slots)
		     : 0;
}
