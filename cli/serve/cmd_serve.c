/*
 * cmd_serve.c: `gnomon serve`: the web page and its REST API over HTTP. One
 * thread; each call runs in a process of its own (trace_reader.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/commands.h"
#include "cli/serve/http.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/serve_address.h"
#include "cli/serve/reader_process.h"
#include "cli/trace/read/locate.h"

#define PORT "8080"
#define ADDRESS "127.0.0.1"
#define TIMEOUT_NS UINT64_C(60000000000)
#define CACHE_BYTES (UINT64_C(64) << 20)
#define TOKEN_BYTES 16
#define TOKEN_MIN 8		/* characters of --token */
#define TOKEN_MAX 256
#define WORKERS_MAX 256
#define HOSTS_MAX 16

enum { PORT_OPTION = 1, BIND, TOKEN, TOKEN_FILE, OPEN, HOST, TIMEOUT, MEMORY, WORKERS,
       CACHE, SOURCE_ROOT, DEBUG_PATH, SYSROOT, NO_DEBUGINFOD };

struct request {
	const char *port, *address, *token;
	const char *hosts[HOSTS_MAX];
	size_t host_count;
	struct job_options common, sources;
	struct trace_reader_limits limits;
	char secret[TOKEN_MAX + 1];	/* from --token-file; a longer token is
					 * cut and still too long */
	uint64_t workers, cache;
	bool open;
};

struct server {
	struct event_loop loop;
	struct event_source signals;
	struct served_list served;
	struct job_queue queue;
	struct http http;
	bool ending;
};

static int add_word(struct job_options *words, const char *option,
		    const char *value)
{
	if (words->count == JOB_OPTIONS_MAX)
		return -ERANGE;
	words->list[words->count++] = value == NULL ?
		grow_format("--%s", option) :
		grow_format("--%s=%s", option, value);
	return 0;
}

static void free_words(struct job_options *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
}

static int take_workers(struct request *request, const char *value)
{
	int error = quantity_parse_count(value, &request->workers);

	return error != 0 ? error :
		request->workers == 0 || request->workers > WORKERS_MAX ?
		-ERANGE : 0;
}

static int take_port(struct request *request, const char *value)
{
	uint64_t number;
	int error = quantity_parse_count(value, &number);

	request->port = value;
	return error != 0 ? error : number > UINT16_MAX ? -ERANGE : 0;
}

static int take_token(struct request *request, const char *value)
{
	size_t size = strspn(value, "0123456789abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~");

	request->token = value;
	return value[size] != 0 || size < TOKEN_MIN || size >= TOKEN_MAX ?
		-EINVAL : 0;
}

/* The token is the first line. */
static int take_token_file(struct request *request, const char *path)
{
	FILE *in = fopen(path, "re");
	bool good = in != NULL &&
		fgets(request->secret, sizeof(request->secret), in) != NULL;

	if (!good)
		log_error("%s: cannot read a token: %s", path,
			  in == NULL ? strerror(errno) : "the file is empty");
	if (in != NULL)
		fclose(in);
	request->secret[strcspn(request->secret, "\r\n")] = 0;
	if (!good || take_token(request, request->secret) == 0)
		return good ? 0 : -EINVAL;
	log_error("%s: the first line is not a token: a token has %d to %d "
		  "letters, digits, `-`, `_`, `.` and `~`", path, TOKEN_MIN,
		  TOKEN_MAX - 1);
	return -EINVAL;
}

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	switch (id) {
	case PORT_OPTION:
		return take_port(request, value);
	case BIND:
		request->address = value;
		return 0;
	case TOKEN:
		return take_token(request, value);
	case TOKEN_FILE:
		return take_token_file(request, value);
	case HOST:
		if (request->host_count == HOSTS_MAX)
			return -ERANGE;
		request->hosts[request->host_count++] = value;
		return 0;
	case OPEN:
		request->open = true;
		return 0;
	case TIMEOUT:
		return quantity_parse_time(value, &request->limits.timeout_ns);
	case MEMORY:
		return quantity_parse_size(value, &request->limits.memory);
	case CACHE:
		return quantity_parse_size(value, &request->cache);
	case WORKERS:
		return take_workers(request, value);
	case DEBUG_PATH:
		return add_word(&request->common, "debug-path", value);
	case SYSROOT:
		return add_word(&request->common, "sysroot", value);
	case NO_DEBUGINFOD:
		return add_word(&request->common, "no-debuginfod", NULL);
	case SOURCE_ROOT:
		return add_word(&request->sources, "source-root", value);
	default:
		return -EINVAL;
	}
}

/* ---- served traces ---- */

static bool is_number(const char *text)
{
	return text[0] != 0 && strlen(text) < 8 &&
		strspn(text, "0123456789") == strlen(text);
}

/* A file, a directory, or the pid of a process that is being recorded. */
static bool add_operand(struct served_list *served, const char *operand)
{
	int error;
	char *trace;
	bool added;

	if (served_add(served, operand))
		return true;
	if (errno != ENOENT || !is_number(operand)) {
		log_error("%s: cannot be opened: %s: check its name and who "
			  "may read it", operand, strerror(errno));
		return false;
	}
	trace = locate_process((pid_t)strtol(operand, NULL, 10), &error);
	if (trace == NULL) {
		log_error("%s: neither a file nor a process that is being "
			  "recorded", operand);
		return false;
	}
	added = served_add(served, trace);
	if (!added)
		log_error("%s: %s", trace, strerror(errno));
	free(trace);
	return added;
}

static bool add_operands(struct served_list *served, int count,
			 char **operands)
{
	if (count == 0)
		return add_operand(served, ".");
	for (int i = 0; i < count; i++)
		if (!add_operand(served, operands[i]))
			return false;
	return true;
}

/* ---- the loop ---- */

static char *random_token(void)
{
	unsigned char bytes[TOKEN_BYTES];
	char *text = grow_alloc(2 * TOKEN_BYTES + 1);

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		log_error("cannot get random bytes for a token: %s",
			  strerror(errno));
		exit(EXIT_NOTHING);
	}
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

static void take_signal(struct event_source *source, uint32_t events)
{
	struct server *server = (struct server *)
		((char *)source - offsetof(struct server, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reader_process_reap(&server->queue);
		else
			server->ending = true;
	}
}

static int watch_signals(struct server *server)
{
	sigset_t wanted;

	signal(SIGPIPE, SIG_IGN);	/* closed sockets are detected
					 * otherwise */
	signal(SIGCHLD, SIG_DFL);	/* it may be inherited as ignored */
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGCHLD);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	server->signals = (struct event_source){
		signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK), take_signal,
	};
	return server->signals.fd < 0 ? -errno :
		event_loop_add(&server->loop, &server->signals, EPOLLIN);
}

/* Allow descriptors for all connections and jobs. */
static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int serve(struct server *server, const struct request *request,
		 int listening)
{
	int error = progress_board_open() ? 0 : -ENOMEM, timeout;
	char *url;

	error = error ?: event_loop_open(&server->loop) ?:
		watch_signals(server) ?: http_open(&server->http, listening);
	if (error != 0) {
		log_error("cannot start the server: %s",
			  strerror(-error));
		return EXIT_NOTHING;
	}
	/* The URL is the command's result, so print it on standard output. */
	url = serve_address_url(request->address, serve_address_port(listening),
				server->http.guard.token);
	printf("%s\n", url);
	fflush(stdout);
	if (request->open)
		serve_address_open(url);
	free(url);
	while (!server->ending && error == 0) {
		timeout = http_run(&server->http);
		error = event_loop_wait(&server->loop, timeout);
	}
	if (error != 0)
		log_error("the server failed: %s", strerror(-error));
	job_queue_close(&server->queue);
	http_close(&server->http);
	event_loop_close(&server->loop);
	return error == 0 ? EXIT_COMPLETE : EXIT_NOTHING;
}

static int start(const struct request *request, struct server *server)
{
	struct http_guard *guard = &server->http.guard;
	char *token = NULL, *cookie;
	int listening = serve_address_listen(request->address, request->port);
	int status;

	if (listening < 0)
		return EXIT_NOTHING;
	guard->loopback = http_guard_is_loopback(request->address);
	if (request->token == NULL && !guard->loopback)
		token = random_token();
	cookie = grow_format("gnomon-%u", serve_address_port(listening));
	guard->token = request->token != NULL ? request->token : token;
	guard->cookie = cookie;
	guard->hosts = request->hosts;
	guard->host_count = request->host_count;
	server->queue.loop = server->http.loop = &server->loop;
	server->queue.limits = request->limits;
	server->queue.common = &request->common;
	server->queue.sources = &request->sources;
	server->queue.running_max = (unsigned)request->workers;
	server->queue.cache.bytes_max = request->cache;
	server->http.served = &server->served;
	server->http.queue = &server->queue;
	raise_limits();
	status = serve(server, request, listening);
	free(cookie);
	free(token);
	return status;
}

static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size :
		0;
}

static int run_serve(const struct command *command, int argc, char **argv)
{
	static struct server server;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct request request = {
		.port = PORT, .address = ADDRESS, .cache = CACHE_BYTES,
		.limits = { TIMEOUT_NS, half_of_memory() },
		.workers = processors > 1 ? (uint64_t)processors : 2,
	};
	int operands, status;

	add_word(&request.sources, "only-roots", NULL);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (add_operands(&server.served, operands, argv + 1))
		status = start(&request, &server);
	served_free(&server.served);
	free_words(&request.common);
	free_words(&request.sources);
	return status;
}

static const char *const description[] = {
	"Serves traces to a web page in the browser, and its data as JSON. The "
	"command prints the address of the page, which uses no other network. "
	"docs/REST.md documents the REST API: each call is a gnomon command, "
	"and its parameters are that command's options.",
	"Operands are traces, directories (all their traces, also those that "
	"appear later) and processes that are being recorded. Default: the "
	"current directory. Clients can read nothing but these traces, the "
	"programs and libraries that the traces name, and source files below "
	"--source-root, and can write nothing. The server itself writes "
	"indexes next to the traces or into the cache directory.",
	"By default only this machine, but each of its users, can connect: to "
	"exclude other users, set a token. With any other --bind, clients need "
	"a token: yours, or else a random one in the printed address. The "
	"connection is not encrypted: between machines, use a tunnel (ssh -L) "
	"or a proxy with TLS.",
	"Exit status: 0: ended by a signal; 2: wrong use, or the server could "
	"not start.",
	NULL
};

static const char *const examples[] = {
	"gnomon serve", "all traces in this directory, also later ones",
	"gnomon serve --open a.trace b.trace", "two traces; opens the browser",
	"gnomon serve $(pgrep -n server)", "a process that is being recorded",
	"gnomon serve --bind 0.0.0.0 --port 80 --token-file token traces/",
	"for clients on other machines",
	NULL
};

static const struct command_option symbols[] = {
	{ DEBUG_PATH, "debug-path", 'd', "PATH", NULL,
	  "also search PATH for programs, libraries and their debug files; may "
	  "be given several times" },
	{ SYSROOT, "sysroot", 0, "DIR", "/",
	  "the paths in traces are relative to DIR" },
	{ NO_DEBUGINFOD, "no-debuginfod", 0, NULL, NULL,
	  "do not query debuginfod servers, even if DEBUGINFOD_URLS is set" },
};

static const struct command_group symbols_group = {
	"symbols", symbols, sizeof(symbols) / sizeof(symbols[0])
};

static const struct command_group *const groups[] = {
	&symbols_group, NULL
};

static const struct command_option options[] = {
	{ SOURCE_ROOT, "source-root", 'S', "[OLD=]DIR", NULL,
	  "show source files from DIR: a path below OLD, or any path, is "
	  "looked up below DIR; sources elsewhere are not shown; may be given "
	  "several times" },
	{ PORT_OPTION, "port", 'p', "N", PORT,
	  "port to listen on; 0: any free port" },
	{ BIND, "bind", 0, "ADDRESS", ADDRESS,
	  "numeric address to listen on" },
	{ TOKEN, "token", 0, "TEXT", NULL,
	  "require this token (8 to 255 letters, digits and -_.~): once in the "
	  "address (?token=), or as `Authorization: Bearer TEXT`" },
	{ TOKEN_FILE, "token-file", 0, "FILE", NULL,
	  "the token is the first line of FILE, so that process lists do not "
	  "show it" },
	{ HOST, "host", 0, "NAME", NULL,
	  "accept NAME as this machine's host name, besides localhost and "
	  "addresses; may be given several times" },
	{ OPEN, "open", 0, NULL, NULL, "open the page in a browser" },
	{ TIMEOUT, "timeout", 0, "DURATION", "1m",
	  "cancel a call that runs longer, not counting the time to read its "
	  "trace" },
	{ MEMORY, "memory", 0, "SIZE", "half of this machine's memory",
	  "limit the memory of one call's process, not counting its trace; 0: "
	  "no limit" },
	{ WORKERS, "workers", 0, "N", "one per processor, at least 2",
	  "number of calls that run, or read their trace, at once; others "
	  "wait" },
	{ CACHE, "cache", 0, "SIZE", "64M",
	  "cache up to SIZE of answers for repeated calls" },
	COMMAND_COMMON_OPTIONS,
};

const struct command cmd_serve = {
	.name = "serve",
	.operands = "[TRACE|DIR|PID...]",
	.summary = "look at traces in a browser",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_serve,
};
