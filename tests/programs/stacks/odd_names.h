/*
 * odd_names.h: functions of libodd_names.c. Each allocates with `take`.
 */
#ifndef ODD_NAMES_H
#define ODD_NAMES_H

#include <stddef.h>

#define ODD_NAMES 4
#ifdef __cplusplus
extern "C"
#else
extern
#endif
void *(*const odd_names[ODD_NAMES])(void *(*)(size_t), size_t);

#endif
