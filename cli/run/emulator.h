/*
 * emulator.h: programs for another processor, by qemu's user emulation.
 *
 *	gnomon run ./program            for aarch64: qemu is started with it
 *	gnomon run qemu-aarch64 ./program
 *
 * The emulated program gets the library that was built for its processor, and
 * the recorder that goes with it, which qemu runs as well. Both are in a folder
 * of the processor's name beside this command's own library.
 */
#ifndef GNOMON_EMULATOR_H
#define GNOMON_EMULATOR_H

#include <stdbool.h>

struct emulator {
	char *program;	/* to be executed: qemu */
	char **argv;	/* its own; what they point to is the caller's */
	char *guest;	/* the program that it runs */
	char *library;	/* for the guest */
	char *recorder;	/* a program of this machine, which runs the guest's */
	char *prefix;	/* what argv names it by; NULL: it does not */
	const char *root;	/* where qemu looks first for files that the guest
				 * opens; "": nowhere but where it says */
	const char *triplet;	/* Debian's name of the guest's libraries */
};

/*
 * Whether the program, or the one that it emulates, is for another processor
 * than the library. Then what has to be started instead is in *to, to be given
 * to emulator_free; false after a message if a part is missing (*status is the
 * exit status), or without one if the program is for this machine (0). argv
 * stays as it is until then.
 */
bool emulator_find(struct emulator *to, const char *program, char **argv,
		   const char *library, int *status);

/* For the environment of what is started. */
void emulator_set_environment(const struct emulator *emulator);

void emulator_free(struct emulator *emulator);

#endif
