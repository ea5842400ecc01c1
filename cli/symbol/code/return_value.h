/*
 * return_value.h: the text that a function of an ELF file returns, without
 * running it, for functions that only return the address of a constant, as the
 * functions that configure a run-time library do.
 */
#ifndef GNOMON_RETURN_VALUE_H
#define GNOMON_RETURN_VALUE_H

#define RETURNED_TEXT_MAX 65536

enum returned {
	RETURNED_TEXT,
	RETURNED_NO_FUNCTION,	/* the file has none of that name */
	RETURNED_UNKNOWN	/* it does more, or the text is not constant */
};

/* On RETURNED_TEXT, the caller frees *text. The descriptor stays open. */
enum returned return_value_text(int fd, const char *function, char **text);

#endif
