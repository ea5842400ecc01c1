/*
 * emulator.h: runs programs for another processor under qemu's user emulation.
 *
 *	gnomon run ./program            for aarch64: qemu is started with it
 *	gnomon run qemu-aarch64 ./program
 *
 * The emulated program gets the library for its processor and the recorder for
 * that processor, which qemu runs as well. Both are in a folder with the
 * processor's name, beside this command's own library.
 */
#ifndef GNOMON_EMULATOR_H
#define GNOMON_EMULATOR_H

#include <stdbool.h>

struct emulator {
	char *program;	/* to be executed: qemu */
	char **argv;	/* owned here; the strings are the caller's */
	char *guest;	/* the program that it runs */
	char *library;	/* for the guest */
	char *recorder;	/* a program for this machine that runs the guest's
			 * recorder */
	char *prefix;	/* of the guest's files (-L), as given in argv; NULL:
			 * not given */
	const char *root;	/* where qemu looks first for files that the
				 * guest opens; "": only at the path that the
				 * guest gives */
	const char *triplet;	/* Debian's name of the guest's libraries */
};

/*
 * Whether the program, or the program that it emulates, is for another
 * processor than the library. If so, *to says what to start instead; free it
 * with emulator_free. False after a message: a part is missing (*status is the
 * exit status). False without a message: the program is for this machine
 * (*status is 0). argv must stay valid while *to is used.
 */
bool emulator_find(struct emulator *to, const char *program, char **argv,
		   const char *library, int *status);

/* Sets the environment for the program to start. */
void emulator_set_environment(const struct emulator *emulator);

void emulator_free(struct emulator *emulator);

#endif
