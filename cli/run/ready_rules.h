/*
 * ready_rules.h: prepares unwind rules before a program is recorded. It makes
 * missing rule files for files whose code has no unwind tables
 * (cli/symbol/cfi/prepare.h).
 */
#ifndef GNOMON_READY_RULES_H
#define GNOMON_READY_RULES_H

#include "cli/run/plan_libraries.h"

/*
 * The directory of rule files, to pass to the program, to be freed; NULL: none
 * needed. given: the user's directory, or "". Takes a bounded time and reports
 * the rule files made. The main thread.
 */
char *ready_rules(const struct plan_libraries *files, const char *given);

#endif
