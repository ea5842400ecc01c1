/*
 * rule_class.h: converts a row of the unwind table to an equivalent one-word
 * rule, if there is one.
 */
#ifndef GNOMON_UNWIND_RULE_CLASS_H
#define GNOMON_UNWIND_RULE_CLASS_H

#include "unwind/rules/cfa_program.h"

/* row NULL gives RULE_BAD. A pure function. */
struct rule rule_class_of_row(const struct cfi_fde *fde,
			      const struct cfa_row *row);

#endif
