// FLAGS: -mno-red-zone -fstack-protector-all -fstack-clash-protection
/*
 * returns_no_red_zone.c: returns.c with all that may be done to a frame for its protection.
 */
#include "returns.c"
