/*
 * lsda.h: tells whether the search for an exception's handler may end at a
 * frame, from the language specific data area (LSDA) that compilers emit beside
 * the unwind table (Itanium C++ ABI: Exception Handling, as written by g++,
 * clang, rustc, gnat, gdc and gcc -fexceptions).
 *
 * Nothing here allocates, locks, writes or calls out. Any thread, also signal
 * handlers.
 */
#ifndef GNOMON_UNWIND_LSDA_H
#define GNOMON_UNWIND_LSDA_H

#include "unwind/image/image.h"

/*
 * Whether phase 1 of an unwinder may stop at the frame whose call returns to
 * ra, which lies in this image: the frame catches something, or does not let
 * exceptions through (noexcept). Cleanups alone do not stop it. True if that is
 * unknown. False on architectures where it does not matter, because unwinders
 * by .ARM.exidx identify that frame themselves. Costs a lookup in the unwind
 * table.
 */
bool lsda_may_catch(const struct image *image, uintptr_t ra);

/*
 * The same, by the table at lsda alone, for the call at pc in a function that
 * begins at `function`. No byte at or after `end` is read.
 */
bool lsda_table_may_catch(uintptr_t lsda, uintptr_t end, uintptr_t function,
			  uintptr_t pc);

#endif
