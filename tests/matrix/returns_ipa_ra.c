// FLAGS: -O3 -fipa-ra -foptimize-sibling-calls
/*
 * returns_ipa_ra.c: returns.c with the registers of callees known to callers.
 */
#include "returns.c"
