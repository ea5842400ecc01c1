/*
 * lsda.h: whether a frame may be where the search for an exception's handler
 * ends, by the table that compilers put beside the unwind table (the language
 * specific data area; Itanium C++ ABI: Exception Handling, as g++, clang,
 * rustc, gnat, gdc and gcc -fexceptions write it).
 *
 * Nothing here allocates, locks, writes or calls out. Any thread, also signal
 * handlers.
 */
#ifndef GNOMON_UNWIND_LSDA_H
#define GNOMON_UNWIND_LSDA_H

#include "unwind/image.h"

/*
 * Whether phase 1 of an unwinder may stop at the frame whose call returns to
 * ra, which lies in this image: because it catches something, or because
 * nothing may be thrown through it (noexcept). Cleanups alone do not stop
 * it. True where it cannot be told; false where it does not matter, as
 * unwinders by .ARM.exidx know that frame by itself. Costs a look-up in the
 * unwind table.
 */
bool lsda_may_catch(const struct image *image, uintptr_t ra);

/*
 * The same by the table at lsda alone, of which no byte at or after `end` is
 * read: what it says of the call at pc, in a function that begins at
 * `function`.
 */
bool lsda_table_may_catch(uintptr_t lsda, uintptr_t end, uintptr_t function,
			  uintptr_t pc);

#endif
