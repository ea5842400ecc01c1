/*
 * serve_address.c: see serve_address.h.
 */
#include "cli/serve/serve_address.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"

#define BACKLOG 1024

/* Returns the descriptor, or -1 with errno. */
static int listen_at(const struct addrinfo *there)
{
	int fd = socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0), error;

	if (fd < 0)
		return -1;
	/* A failure would only delay a later restart. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(fd, there->ai_addr, there->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int serve_address_listen(const char *address, const char *port)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *found;
	int error = getaddrinfo(address, port, &hints, &found), fd;

	if (error != 0) {
		log_error("--bind %s --port %s: %s", address, port,
			  gai_strerror(error));
		return -1;
	}
	fd = listen_at(found);
	if (fd < 0)
		log_error("--bind %s --port %s: %s", address, port,
			  strerror(errno));
	freeaddrinfo(found);
	return fd;
}

unsigned serve_address_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	/* Does not fail on a bound socket. */
	if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
		return 0;
	return address.ss_family == AF_INET6 ?
		ntohs(((struct sockaddr_in6 *)&address)->sin6_port) :
		ntohs(((struct sockaddr_in *)&address)->sin_port);
}

char *serve_address_url(const char *address, unsigned port, const char *token)
{
	bool six = strchr(address, ':') != NULL;

	return grow_format("http://%s%s%s:%u/%s%s", six ? "[" : "", address,
			   six ? "]" : "", port, token ? "?token=" : "",
			   token ? token : "");
}

/* Undo the server's signal setup: the browser lives on, and blocked signals
 * could not end it. Its output goes to standard error: standard output is for
 * results. */
static _Noreturn void become_browser(const char *url)
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execlp("xdg-open", "xdg-open", url, (char *)NULL);
	log_note("--open: cannot run xdg-open: %s", strerror(errno));
	_exit(1);
}

void serve_address_open(const char *url)
{
	pid_t pid = fork();

	if (pid == 0)
		become_browser(url);
	if (pid < 0)
		log_note("--open: cannot start a process for the browser: %s",
			 strerror(errno));
}
