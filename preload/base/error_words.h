/*
 * error_words.h: texts for errno values, for gnomon's messages. No state; any
 * thread, also signal handlers.
 */
#ifndef GNOMON_ERROR_WORDS_H
#define GNOMON_ERROR_WORDS_H

/* The text for an errno value of either sign; NULL: none, print the number. */
const char *error_words(int err);

#endif
