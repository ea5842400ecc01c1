/*
 * manual.h: manual pages and shell completion, made from the tables of
 * commands when gnomon is built.
 */
#ifndef GNOMON_MANUAL_H
#define GNOMON_MANUAL_H

#include "cli/base/terminal/command.h"

/*
 * Write DIR/man/gnomon.1, DIR/man/gnomon-COMMAND.1 for each, and
 * DIR/completion/{gnomon.bash,_gnomon,gnomon.fish}. `top` is gnomon itself,
 * `commands` are its commands. 0 or -errno.
 */
int manual_write(const char *directory, const struct command *top,
		 const struct command *const *commands, size_t count);

/* One completion script; `shell` is "bash", "zsh" or "fish". */
void completion_print(FILE *out, const char *shell,
		      const struct command *const *commands, size_t count);

#endif
