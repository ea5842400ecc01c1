/*
 * rule_dictionary.h: the process-wide list of distinct rules; a rule's index is
 * its id. The list itself is rules_dictionary (rules.h).
 */
#ifndef GNOMON_UNWIND_RULE_DICTIONARY_H
#define GNOMON_UNWIND_RULE_DICTIONARY_H

#include <stdint.h>

#include "unwind/rules/rules.h"

/* Fixed ids; that of RULE_NONE is 0. */
enum { RULE_DICTIONARY_BAD = 1, RULE_DICTIONARY_COMPLEX = 2 };

/* Makes an empty dictionary and forgets any earlier one. 0 or -ENOMEM. */
int rule_dictionary_init(void);

/*
 * The rule's id; a new rule gets the next free one. If the dictionary is full,
 * the result is RULE_DICTIONARY_COMPLEX, which is correct for every row, but
 * slow. Lock-free; any thread, also signal handlers.
 */
uint16_t rule_dictionary_id(struct rule rule);

/* Bytes allocated. */
size_t rule_dictionary_bytes(void);

/* Whether every id has a rule; call it while no thread adds rules. */
bool rule_dictionary_is_valid(void);

#endif
