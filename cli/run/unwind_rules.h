/*
 * unwind_rules.h: prepares unwind rules before a program is recorded. It makes
 * missing rule files for files whose code has no unwind tables
 * (cli/symbol/cfi/prepare.h).
 */
#ifndef GNOMON_UNWIND_RULES_H
#define GNOMON_UNWIND_RULES_H

#include "cli/run/patch_plan_libraries.h"

/*
 * The directory of rule files, to pass to the program, to be freed; NULL: none
 * needed. given: the user's directory, or "". Takes a bounded time and reports
 * the rule files made. The main thread.
 */
char *unwind_rules(const struct patch_plan_libraries *files, const char *given);

#endif
