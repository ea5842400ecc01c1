/*
 * serve_address.h: where the server can be reached: its socket, its URL, and a
 * browser there. The main thread, before the loop.
 */
#ifndef GNOMON_SERVE_ADDRESS_H
#define GNOMON_SERVE_ADDRESS_H

/* A socket that listens at an address and a port, both numbers; -1 after a
 * message. */
int serve_address_listen(const char *address, const char *port);
/* The port of such a socket. */
unsigned serve_address_port(int fd);
/* The page's, to be freed; `token` may be NULL. */
char *serve_address_url(const char *address, unsigned port, const char *token);
/* Show it in a browser, as the desktop has it; if it cannot, that is said. */
void serve_address_open(const char *url);

#endif
