/* stub.c: see stub.h. */
#include "stub/stub.h"

#define STUB(type, name, parameters, arguments, stub) \
	STUB_OF(gnomon_functions, type, name, parameters, stub, arguments)

GNOMON_FUNCTIONS(STUB)
