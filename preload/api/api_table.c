/* api_table.c: tables of the functions of gnomon/gnomon.h, for stubs
 * (stub/functions.h). */
#include "preload/base/base.h"
#include "stub/functions.h"

#define API_DECLARE(type, name, parameters, arguments, stub) \
	extern BASE_HIDDEN type api_our_##name parameters;
#define API_POINTER(type, name, parameters, arguments, stub) \
	.name = api_our_##name,

GNOMON_FUNCTIONS(API_DECLARE)
GNOMON_NUMBERS(API_DECLARE)

const struct gnomon_functions gnomon_functions = {
	.size = sizeof(gnomon_functions),
	GNOMON_FUNCTIONS(API_POINTER)
};

const struct gnomon_numbers gnomon_numbers = {
	.size = sizeof(gnomon_numbers),
	GNOMON_NUMBERS(API_POINTER)
};
