/*
 * dictionary.h: the one list of all distinct rules, and the number of each.
 * The list itself is rules_dictionary (rules.h).
 */
#ifndef GNOMON_UNWIND_DICTIONARY_H
#define GNOMON_UNWIND_DICTIONARY_H

#include <stdint.h>

#include "unwind/rules.h"

/* Numbers known beforehand; RULE_NONE's is 0. */
enum { DICTIONARY_BAD = 1, DICTIONARY_COMPLEX = 2 };

/* Makes an empty one, forgetting any other. 0 or -ENOMEM. */
int dictionary_init(void);

/*
 * The rule's number; a new rule gets the next. When the dictionary is full
 * the answer is DICTIONARY_COMPLEX, which is right for every row, if slow.
 * Lock-free, any thread, also signal handlers.
 */
uint16_t dictionary_id(struct rule rule);

/* Bytes it has taken. */
size_t dictionary_bytes(void);

/* Every number stands for a rule; while nobody adds one. */
bool dictionary_is_valid(void);

#endif
