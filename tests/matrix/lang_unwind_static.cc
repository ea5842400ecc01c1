// FLAGS: -no-pie -Wl,--export-dynamic
// FLAGS: -Wl,--whole-archive -l:libunwind.a -Wl,--no-whole-archive -llzma
/*
 * lang_unwind_static.cc: exceptions through the unwinder of a nongnu libunwind
 * that is part of the program.
 */
#include "lang_unwind_nongnu.cc"
