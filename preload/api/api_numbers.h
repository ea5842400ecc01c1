/*
 * api_numbers.h: what the program's questions for numbers need beforehand.
 */
#ifndef GNOMON_API_NUMBERS_H
#define GNOMON_API_NUMBERS_H

struct recorder;

/* The recorder begins: whether the program is going to ask. */
void api_numbers_begin(struct recorder *r);

#endif
