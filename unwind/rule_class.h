/*
 * rule_class.h: from a row of the unwind table to the rule that says the same
 * in one word, where that is possible.
 */
#ifndef GNOMON_UNWIND_RULE_CLASS_H
#define GNOMON_UNWIND_RULE_CLASS_H

#include "unwind/cfa_program.h"

/* row may be NULL: then the rule is RULE_BAD. A pure function. */
struct rule rule_class_of_row(const struct cfi_fde *fde,
			      const struct cfa_row *row);

#endif
