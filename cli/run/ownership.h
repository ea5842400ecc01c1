/*
 * ownership.h: whose files are to be, as numbers: the recorder knows only the
 * names in /etc/passwd and /etc/group, of where the program sees them.
 */
#ifndef GNOMON_OWNERSHIP_H
#define GNOMON_OWNERSHIP_H

#include <stdbool.h>

#define OWNERSHIP_TEXT 32

/* "USER", "USER:GROUP", ":GROUP", names or numbers, into the same with numbers;
 * of a named user alone, also its group. False: there is no such one. */
bool ownership_find(const char *text, char numbers[OWNERSHIP_TEXT]);

#endif
