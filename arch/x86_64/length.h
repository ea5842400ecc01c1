/*
 * length.h (x86-64): splits an instruction into its parts and finds its length,
 * by tables (Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, appendix A):
 *
 *	prefixes  REX | VEX | EVEX  opcode  ModRM  SIB  displacement  immediate
 *
 * The tables of the one-byte map and of map 0F have a letter for each opcode;
 * all opcodes of 0F38, and all of 0F3A, are of one kind. Opcodes that are
 * invalid in 64-bit mode have no length, nor have XOP, 3DNow! and APX.
 */
#ifndef GNOMON_ARCH_LENGTH_H
#define GNOMON_ARCH_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSTRUCTION_MAX 15	/* bytes; longer ones fault */

enum x86_map { X86_ONE, X86_0F, X86_0F38, X86_0F3A, X86_MAP5 = 5, X86_MAP6 };

struct x86_instruction {
	uint8_t size;		/* bytes */
	uint8_t map, opcode;
	bool vector;		/* VEX or EVEX */
	bool narrow;		/* prefix 66 */
	bool segment;		/* prefix 64 or 65: segment override */
	bool short_address;	/* prefix 67 */
	uint8_t repeat;		/* prefix F2 or F3, or 0 */
	bool has_rex;
	uint8_t rex;		/* its lower half, W R X B; also from VEX */
	uint8_t other;		/* VEX's second source */
	bool has_modrm;
	uint8_t mod, reg, rm;	/* with the bits of rex; rm: of SIB's base if
				 * there is a SIB */
	bool indexed, based;	/* an address with an index, with a base */
	int32_t displacement;
	int64_t immediate;	/* sign-extended */
};

/*
 * The bytes that follow an opcode, by letter:
 *
 *	.  nothing            m  ModRM              p  this is a prefix
 *	1  1 byte             b  ModRM, 1 byte      r  this is a REX prefix
 *	2  2 bytes            z  ModRM, z           v  this begins VEX
 *	3  3 bytes            f  ModRM, 1 byte      w  this begins EVEX
 *	4  z: 4 bytes, or 2      for some of reg    e  escape to another map
 *	j  4 bytes: a jump    F  the same, z        x  invalid
 *	i  4 bytes, 8 or 2    a  8 bytes or 4: an address
 */
#define X86_MAP_ONE                                                          \
	"mmmm14xx" "mmmm14xe" "mmmm14xx" "mmmm14xx"                          \
	"mmmm14px" "mmmm14px" "mmmm14px" "mmmm14px"                          \
	"rrrrrrrr" "rrrrrrrr" "........" "........"                          \
	"xxwmpppp" "4z1b...." "11111111" "11111111"                          \
	"bzxbmmmm" "mmmmmmmm" "........" "..x....."                          \
	"aaaa...." "14......" "11111111" "iiiiiiii"                          \
	"bb2.vvbz" "3.2..1x." "mmmmxxx." "mmmmmmmm"                          \
	"11111111" "jjx1...." "p.pp..fF" "......mm"
#define X86_MAP_0F                                                           \
	"mmmmx..." "..x.xm.x" "mmmmmmmm" "mmmmmmmm"                          \
	"mmmmxxxx" "mmmmmmmm" "......x." "exexxxxx"                          \
	"mmmmmmmm" "mmmmmmmm" "mmmmmmmm" "mmmmmmmm"                          \
	"mmmmmmmm" "mmmmmmmm" "bbbbmmm." "mmxxmmmm"                          \
	"jjjjjjjj" "jjjjjjjj" "mmmmmmmm" "mmmmmmmm"                          \
	"...mbmxx" "...mbmmm" "mmmmmmmm" "mmbmmmmm"                          \
	"mmbmbbbm" "........" "mmmmmmmm" "mmmmmmmm"                          \
	"mmmmmmmm" "mmmmmmmm" "mmmmmmmm" "mmmmmmmm"

/* Reads bytes one by one; `left` is 0 at the end. */
struct x86_cursor {
	const uint8_t *at;
	size_t left;
	bool ended;		/* a read was beyond the end */
};

static inline uint8_t x86_byte(struct x86_cursor *c)
{
	if (c->left == 0) {
		c->ended = true;
		return 0;
	}
	c->left--;
	return *c->at++;
}

/* A signed little-endian number of 0 to 8 bytes. */
static inline int64_t x86_signed(struct x86_cursor *c, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes, i;
	uint64_t value = 0;

	if (bytes == 0)
		return 0;
	for (i = 0; i < bytes; i++)
		value |= (uint64_t)x86_byte(c) << (8 * i);
	return (int64_t)(value << shift) >> shift;
}

/* A legacy prefix; some are ignored. */
static inline void x86_legacy_prefix(struct x86_instruction *in, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		in->narrow = true;
		break;
	case 0x64:
	case 0x65:
		in->segment = true;
		break;
	case 0x67:
		in->short_address = true;
		break;
	case 0xf2:
	case 0xf3:
		in->repeat = byte;
		break;
	default:
		break;
	}
}

/* VEX of 2 or 3 bytes, or EVEX of 4, after its first byte. False: neither. */
static inline bool x86_vector_prefix(struct x86_cursor *c,
				     struct x86_instruction *in, uint8_t first)
{
	uint8_t a = x86_byte(c), b = a;

	if (in->narrow || in->repeat || in->has_rex)
		return false;
	in->vector = true;
	in->map = X86_0F;
	in->rex = (uint8_t)(~a >> 5 & 4);
	if (first != 0xc5) {
		b = x86_byte(c);
		in->map = first == 0x62 ? a & 7 : a & 31;
		in->rex = (uint8_t)((~a >> 5 & 7) | (b >> 4 & 8));
	}
	in->other = (uint8_t)(~b >> 3 & 15);
	in->narrow = (b & 3) == 1;
	in->repeat = (b & 3) == 2 ? 0xf3 : (b & 3) == 3 ? 0xf2 : 0;
	if (first == 0x62) {
		x86_byte(c);
		return !(a & 8) && b & 4 && in->map != X86_ONE &&
		       in->map != 4 && in->map <= X86_MAP6;
	}
	return in->map >= X86_0F && in->map <= X86_0F3A;
}

/* Reads the prefixes and the opcode; returns the letter of what follows. */
static inline char x86_opcode(struct x86_cursor *c, struct x86_instruction *in)
{
	uint8_t byte = x86_byte(c);
	char kind = X86_MAP_ONE[byte];

	for (; (kind == 'p' || kind == 'r') && !c->ended;
	     kind = X86_MAP_ONE[byte]) {
		/* REX is valid only directly before an opcode */
		in->has_rex = kind == 'r';
		in->rex = in->has_rex ? byte & 15 : 0;
		if (!in->has_rex)
			x86_legacy_prefix(in, byte);
		byte = x86_byte(c);
	}
	if (kind == 'v' || kind == 'w') {
		if (!x86_vector_prefix(c, in, byte))
			return 'x';
		byte = x86_byte(c);
	} else if (kind == 'e') {
		byte = x86_byte(c);
		in->map = byte == 0x38 ? X86_0F38 :
			  byte == 0x3a ? X86_0F3A : X86_0F;
		if (in->map != X86_0F)
			byte = x86_byte(c);
	}
	in->opcode = byte;
	if (in->map == X86_ONE)
		return kind;
	if (in->map != X86_0F)
		return in->map == X86_0F3A ? 'b' : 'm';
	kind = X86_MAP_0F[byte];
	return in->vector && kind != 'm' && kind != 'b' && byte != 0x77 ? 'x' :
									  kind;
}

static inline void x86_operand(struct x86_cursor *c, struct x86_instruction *in)
{
	uint8_t modrm = x86_byte(c), base = modrm & 7, sib;
	unsigned bytes;

	in->has_modrm = true;
	in->mod = modrm >> 6;
	in->reg = (uint8_t)((modrm >> 3 & 7) | (in->rex << 1 & 8));
	in->based = in->mod != 3;
	bytes = in->mod == 1 ? 1 : in->mod == 2 ? 4 : 0;
	if (in->mod != 3 && base == 4) {
		sib = x86_byte(c);
		base = sib & 7;
		in->indexed = ((sib >> 3 & 7) | (in->rex << 2 & 8)) != 4;
	}
	if (in->mod == 0 && base == 5) {
		in->based = false;
		bytes = 4;
	}
	in->rm = (uint8_t)(base | (in->rex << 3 & 8));
	in->displacement = (int32_t)x86_signed(c, bytes);
}

static inline unsigned x86_immediate(const struct x86_instruction *in,
				     char kind)
{
	unsigned wide = in->narrow && !(in->rex & 8) ? 2 : 4;

	switch (kind) {
	case '1':
	case 'b':
		return 1;
	case '2':
		return 2;
	case '3':
		return 3;
	case '4':
	case 'z':
		return wide;
	case 'j':
		return 4;
	case 'i':
		return in->rex & 8 ? 8 : wide;
	case 'f':
		return in->reg & 6 ? 0 : 1;
	case 'F':
		return in->reg & 6 ? 0 : wide;
	default:
		return 0;
	}
}

/* Decodes the instruction at `code`, of which `room` bytes are readable. On
 * entry *in is zero. False: unknown instruction. */
static inline bool x86_instruction(const void *code, size_t room,
				   struct x86_instruction *in)
{
	size_t most = room < X86_INSTRUCTION_MAX ? room : X86_INSTRUCTION_MAX;
	struct x86_cursor c = { .at = code, .left = most };
	char kind = x86_opcode(&c, in);

	if (kind == 'x' || c.ended)
		return false;
	if (kind == 'm' || kind == 'b' || kind == 'z' || kind == 'f' ||
	    kind == 'F')
		x86_operand(&c, in);
	/* XOP, with reg not 0; extrq and insertq, with 2 more bytes */
	if ((in->map == X86_ONE && in->opcode == 0x8f && in->reg & 7) ||
	    (in->map == X86_0F && in->opcode == 0x78 && !in->vector &&
	     (in->narrow || in->repeat)))
		return false;
	if (kind == 'a')
		in->immediate = x86_signed(&c, in->short_address ? 4 : 8);
	else
		in->immediate = x86_signed(&c, x86_immediate(in, kind));
	in->size = (uint8_t)(most - c.left);
	return !c.ended;
}

#endif
