/*
 * commands.h: the commands of gnomon; each is one cmd_*.c.
 */
#ifndef GNOMON_COMMANDS_H
#define GNOMON_COMMANDS_H

#include "cli/base/terminal/command.h"

/* Tables that are put together at start (recording options) need a call. */
const struct command *cmd_run_command(void);
extern const struct command cmd_start, cmd_stop, cmd_snapshot, cmd_clear;
extern const struct command cmd_report;
extern const struct command cmd_info;
extern const struct command cmd_check;
extern const struct command cmd_diff;
extern const struct command cmd_annotate;
extern const struct command cmd_strip;
extern const struct command cmd_anonymize;
extern const struct command cmd_repack;
extern const struct command cmd_extract;
extern const struct command cmd_export;
extern const struct command cmd_flamegraph;
extern const struct command cmd_graph;
extern const struct command cmd_serve;
extern const struct command cmd_sql;
extern const struct command cmd_cfi;

#endif
