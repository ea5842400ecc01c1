/*
 * returned.h: the text that a function of an ELF file returns, where that can
 * be told without running it: functions that do nothing but return the
 * address of a constant, as those do that configure a run-time library.
 */
#ifndef GNOMON_RETURNED_H
#define GNOMON_RETURNED_H

#define RETURNED_TEXT_MAX 65536

enum returned {
	RETURNED_TEXT,
	RETURNED_NO_FUNCTION,	/* the file has none of that name */
	RETURNED_UNKNOWN	/* it does more, or the text is no constant */
};

/* On RETURNED_TEXT, *text is to be freed. The descriptor stays open. */
enum returned returned_text(int fd, const char *function, char **text);

#endif
