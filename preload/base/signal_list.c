/*
 * signal_list.c: see signal_list.h.
 */
#include "preload/base/signal_list.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* As kill(1) counts them; musl reserves one more signal. */
#define SIGNAL_RTMIN 34
#define SIGNAL_RTMAX 64

struct signal_word {
	const char *word;
	int value;
};

static const struct signal_word signal_names[] = {
	{ "HUP", SIGHUP },	{ "INT", SIGINT },
	{ "QUIT", SIGQUIT },	{ "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 },	{ "ALRM", SIGALRM },
	{ "TERM", SIGTERM },	{ "URG", SIGURG },
	{ "VTALRM", SIGVTALRM }, { "PROF", SIGPROF },
	{ "WINCH", SIGWINCH },	{ "IO", SIGIO },
	{ "POLL", SIGPOLL },	{ "PWR", SIGPWR },
	{ "RTMIN", SIGNAL_RTMIN }, { "RTMAX", SIGNAL_RTMAX },
	{ NULL, 0 }
};

static const struct signal_word signal_actions[] = {
	{ "toggle", CONTROL_TOGGLE },
	{ "snapshot", CONTROL_SNAPSHOT },
	{ "report", CONTROL_REPORT },
	{ "clear", CONTROL_CLEAR },
	{ NULL, 0 }
};

/* The table's word at *text, and moves *text behind it; NULL: none. */
static const struct signal_word *signal_take(const struct signal_word *table,
					     const char **text)
{
	for (; table->word; table++) {
		size_t n = strlen(table->word);
		char next = (*text)[n < strlen(*text) ? n : strlen(*text)];

		if (strncmp(*text, table->word, n) != 0 ||
		    (next >= '0' && next <= '9') ||
		    (next >= 'A' && next <= 'Z') ||
		    (next >= 'a' && next <= 'z'))
			continue;
		*text += n;
		return table;
	}
	return NULL;
}

/* N of RTMIN+N or RTMAX-N; 0: none; -1: syntax error. */
static int signal_distance(int number, const char **text)
{
	const char *at = *text;
	int distance = 0;

	if (*at == '=')
		return 0;
	if (!(number == SIGNAL_RTMIN && *at == '+') &&
	    !(number == SIGNAL_RTMAX && *at == '-'))
		return -1;
	if (at[1] < '0' || at[1] > '9')
		return -1;
	for (at++; *at >= '0' && *at <= '9'; at++) {
		distance = distance * 10 + (*at - '0');
		if (distance > SIGNAL_RTMAX - SIGNAL_RTMIN)
			return -1;
	}
	*text = at;
	return distance;
}

static bool signal_wish_read(const char **text,
			     struct signal_action_wanted *wish)
{
	const struct signal_word *found;
	int distance;

	if (strncmp(*text, "SIG", 3) == 0)
		*text += 3;
	found = signal_take(signal_names, text);
	if (!found)
		return false;
	distance = signal_distance(found->value, text);
	if (distance < 0 || **text != '=')
		return false;
	++*text;
	wish->number = found->value == SIGNAL_RTMAX ? SIGNAL_RTMAX - distance :
						       found->value + distance;
	found = signal_take(signal_actions, text);
	if (!found)
		return false;
	wish->what = (enum control_what)found->value;
	return true;
}

int signal_list_read(const char *text,
		     struct signal_action_wanted list[SIGNAL_LIST_MAX])
{
	int count = 0;

	while (*text) {
		if (count == SIGNAL_LIST_MAX ||
		    !signal_wish_read(&text, &list[count]))
			return -1;
		count++;
		if (*text && *text++ != ',')
			return -1;
	}
	return count;
}
