/* stub_numbers.c: see stub.h. Linked only into programs that request
 * numbers. */
#include "stub/stub.h"

#define STUB(type, name, parameters, arguments, stub) \
	STUB_OF(gnomon_numbers, type, name, parameters, stub, arguments)

GNOMON_NUMBERS(STUB)
