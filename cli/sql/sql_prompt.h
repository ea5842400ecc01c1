/*
 * sql_prompt.h: the interactive prompt, with history and completion.
 */
#ifndef GNOMON_SQL_PROMPT_H
#define GNOMON_SQL_PROMPT_H

#include "cli/sql/sql_worker.h"

/* Run the prompt until the user quits. Returns an exit status. */
int sql_prompt(struct sql_worker *worker);

#endif
