/*
 * sql_prompt.h: statements that a person types, with history and completion.
 */
#ifndef GNOMON_SQL_PROMPT_H
#define GNOMON_SQL_PROMPT_H

#include "cli/sql/sql_worker.h"

/* Until the person ends it. Returns an exit status. */
int sql_prompt(struct sql_worker *worker);

#endif
