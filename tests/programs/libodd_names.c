// FLAGS: -g0
/*
 * Functions whose symbols no compiler would make: with blanks, quotes, commas,
 * semicolons, brackets. Without debug information, which has C's names.
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

ODD(odd_blank, "odd name with blanks")
ODD(odd_quote, "odd'quote,comma`")
ODD(odd_semicolon, "odd;semicolon#hash")
ODD(odd_bracket, "odd<a>&amp;{b}[c] 17")

void *(*const odd_names[ODD_NAMES])(void *(*)(size_t), size_t) = {
	odd_blank, odd_quote, odd_semicolon, odd_bracket
};
