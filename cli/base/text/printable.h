/*
 * printable.h: which characters may be printed, and how many columns a terminal
 * gives them. Texts come from files, traces and command lines, so they contain
 * whatever somebody put there.
 *
 * No state: any thread.
 */
#ifndef GNOMON_PRINTABLE_H
#define GNOMON_PRINTABLE_H

#include <stdint.h>

/*
 * Columns of a character (UAX 11, roughly); 0: it joins the one before; -1: it
 * must not be printed. Those are control characters, which a terminal may obey,
 * line separators, and format characters, which change the text direction or
 * are invisible.
 */
int printable_columns(uint32_t code);

#endif
