"""Finds guarded blocks in a core dump, or in any bytes of memory, using only
the description in docs/GUARD.md."""

import struct

MAGIC, MAGIC_END = b"GNOMblk[", b"]GNOMblk"
MARK = b"GNOM guard mark\0"
MASK = (1 << 64) - 1


def blocks_in_bytes(data, page=True):
    """(offset, size, context) of what looks like a header: all that can be
    said where addresses are not known."""
    at = data.find(MAGIC)
    while at >= 0:
        if data[at + 24:at + 32] == MAGIC_END:
            size, context = struct.unpack_from("<QI", data, at + 8)
            yield at + 40, size, context
        at = data.find(MAGIC, at + 8)


class Core:
    """An ELF core dump: memory by address."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        offset, size, count = (struct.unpack_from("<Q", self.data, 32)[0],
                               *struct.unpack_from("<HH", self.data, 54))
        self.segments = []
        for i in range(count):
            kind, _, at, address, _, length = struct.unpack_from(
                "<IIQQQQ", self.data, offset + i * size)
            if kind == 1 and length:
                self.segments.append((address, at, length))
        self.mark = self.find_mark()

    def read(self, address, n):
        for start, at, length in self.segments:
            if start <= address and address + n <= start + length:
                at += address - start
                return self.data[at:at + n]
        return None

    def find_mark(self):
        for start, at, length in self.segments:
            found = self.data.find(MARK, at, at + length)
            while found >= 0:
                (size, forks, pid, zone, front, fill, secret,
                 live) = struct.unpack_from("<IIiIIIQQ", self.data, found + 16)
                if size == 56 and secret:
                    return {"pid": pid, "zone": zone, "front": front,
                            "fill": fill, "secret": secret, "live": live,
                            "forks": forks}
                found = self.data.find(MARK, found + 1, at + length)
        return None

    def check(self, block, size, place):
        x = self.mark["secret"] ^ block * 0x9e3779b97f4a7c15 & MASK
        x = x + (size * 0xbf58476d1ce4e5b9 & MASK ^
                 (place & 0xffffff) * 0x94d049bb133111eb & MASK) & MASK
        for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
            x = (x ^ x >> 33) * factor & MASK
        return (x ^ x >> 33) & 0x003f3f3f3f3f3f3f | 0xa780808080808080

    def blocks(self):
        """(address, size, context) of each live block."""
        for start, at, length in self.segments:
            found = self.data.find(MAGIC, at, at + length)
            while found >= 0:
                _, size, context, place, end, check = struct.unpack_from(
                    "<8sQII8sQ", self.data, found)
                block = start + found - at + 40
                if end == MAGIC_END and \
                        check == self.check(block, size, place):
                    known = place >> 24 == self.mark["forks"]
                    yield block, size, context if known else 0
                found = self.data.find(MAGIC, found + 8, at + length)

    def stack(self, context):
        """Return addresses of a context, innermost first."""
        live = self.mark["live"]
        nodes = struct.unpack("<Q", self.read(live + 64, 8))[0]
        stack = []
        while context >= 64 or self.is_node(live + nodes, context):
            address, context = struct.unpack(
                "<QI", self.read(live + nodes + 16 * context, 12))
            stack.append(address)
        return stack

    def is_node(self, nodes, context):
        """Below the first node the numbers are reasons why a stack ends."""
        return self.read(nodes + 16 * context, 16) != bytes(16)
