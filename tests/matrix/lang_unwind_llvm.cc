// FLAGS: -Wl,--no-as-needed -l:libunwind.so.1
/*
 * lang_unwind_llvm.cc: exceptions through the unwinder of LLVM.
 */
#define LLVM_UNWIND
#include "lang_unwind_nongnu.cc"
