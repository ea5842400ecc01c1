/*
 * api_numbers.h: what the program's questions for numbers need beforehand.
 */
#ifndef GNOMON_API_NUMBERS_H
#define GNOMON_API_NUMBERS_H

#include <stdbool.h>

/* Whether the program is going to ask. As the recorder begins. */
bool api_numbers_wanted(void);

#endif
