/*
 * serve_address.h: the server's address: its listening socket, its URL, and a
 * browser that opens the URL. Called by the main thread before the loop.
 */
#ifndef GNOMON_SERVE_ADDRESS_H
#define GNOMON_SERVE_ADDRESS_H

/* Returns a socket that listens on a numeric address and port; -1 after a
 * message. */
int serve_address_listen(const char *address, const char *port);
/* The port of such a socket. */
unsigned serve_address_port(int fd);
/* The page's URL; the caller frees it. `token` may be NULL. */
char *serve_address_url(const char *address, unsigned port, const char *token);
/* Open the URL in the desktop's browser; logs if that fails. */
void serve_address_open(const char *url);

#endif
