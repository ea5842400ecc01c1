/*
 * ownership.h: resolves the user and group of --chown to ids, as the recorder
 * can only read /etc/passwd and /etc/group in the program's root directory.
 */
#ifndef GNOMON_OWNERSHIP_H
#define GNOMON_OWNERSHIP_H

#include <stdbool.h>

#define OWNERSHIP_TEXT 32

/* "USER", "USER:GROUP", ":GROUP", with names or numbers, to the same form with
 * numbers. A user name alone also gives the user's group. False: no such user
 * or group. */
bool ownership_find(const char *text, char numbers[OWNERSHIP_TEXT]);

#endif
