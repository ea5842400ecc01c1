/*
 * ready_rules.h: unwind rules for a program that is about to be recorded: of
 * its files those are looked at that have code without unwind tables, and rule
 * files are made that are not there yet (cli/symbol/cfi/prepare.h).
 */
#ifndef GNOMON_READY_RULES_H
#define GNOMON_READY_RULES_H

#include "cli/run/plan_libraries.h"

/*
 * The directory that the recorded program has to be told of, to be freed; NULL:
 * it needs none. given: what the user said, or "". Takes a bounded time, and
 * notes what was made. The main thread.
 */
char *ready_rules(const struct plan_libraries *files, const char *given);

#endif
