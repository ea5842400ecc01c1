// FLAGS: -g0
/*
 * libodd_names.c: functions with symbols that no compiler would make: control
 * characters, blanks, quotes, commas, semicolons, brackets. Without debug
 * information, which would have the C names.
 */
#include "odd_names.h"

#define ODD(name, symbol)						\
	void *name(void *(*take)(size_t), size_t size)			\
		asm("\"" symbol "\"");					\
	void *name(void *(*take)(size_t), size_t size)			\
	{								\
		void *block = take(size);				\
									\
		asm volatile("" : : "r"(block) : "memory");		\
		return block;						\
	}

/* Reports and exports have "odd name with blanks" for it. */
ODD(odd_control, "odd\tname\001with\033blanks")
ODD(odd_quote, "odd'quote,comma`")
ODD(odd_semicolon, "odd;semicolon#hash")
ODD(odd_bracket, "odd<a>&amp;{b}[c] 17")

void *(*const odd_names[ODD_NAMES])(void *(*)(size_t), size_t) = {
	odd_control, odd_quote, odd_semicolon, odd_bracket
};
