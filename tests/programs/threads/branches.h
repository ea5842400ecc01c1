/*
 * branches.h: path(kind) reaches at_the_end() by another stack for each kind:
 * each frame on the path has eight branches.
 */
#ifndef GNOMON_TEST_BRANCHES_H
#define GNOMON_TEST_BRANCHES_H

#define BRANCHES 8

static void at_the_end(void);	/* the program's */

static void path(unsigned kind);

#define WAY(n) \
	static void way_##n(unsigned kind) \
	{ \
		path(kind / BRANCHES); \
		__asm__ volatile(""); \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)

static void path(unsigned kind)
{
	static void (*const ways[BRANCHES])(unsigned) = {
		way_0, way_1, way_2, way_3, way_4, way_5, way_6, way_7
	};

	if (kind)
		ways[kind % BRANCHES](kind);
	else
		at_the_end();
	__asm__ volatile("");
}

#endif
