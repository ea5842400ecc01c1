/*
 * error_words.h: errors in words, as messages of gnomon have them. No state;
 * any thread, also signal handlers.
 */
#ifndef GNOMON_ERROR_WORDS_H
#define GNOMON_ERROR_WORDS_H

/* The words for an errno value of either sign; NULL: it has none, and is shown
 * as a number. */
const char *error_words(int err);

#endif
