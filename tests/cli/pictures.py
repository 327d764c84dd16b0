"""Reads PNG files and animated GIFs with nothing but Python's own library, for the command-line tests: by the
two specifications, strictly, so that a file that only our own reader understands is found out."""
import struct
import zlib
from itertools import accumulate


def read_png(content):
    """(width, height, bytes [height, width, 3]) of a PNG with 8 bits each of red, green and blue."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n", "no PNG signature"
    at, chunks = 8, []
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at:at + 8])
        body = content[at + 8:at + 8 + size]
        (crc,) = struct.unpack(">I", content[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(kind + body), f"wrong checksum of {kind}"
        chunks.append((kind, body))
        at += 12 + size
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b""), "not a whole PNG"
    width, height, depth, color, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, color, compression, filtering, interlace) == (8, 2, 0, 0, 0), "another kind of PNG"
    packed = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    stride = 3 * width
    assert len(packed) == height * (stride + 1), "rows are missing"
    rows, above = [], bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = unfilter(packed[start], packed[start + 1:start + 1 + stride], above)
        rows.append(above)
    return width, height, b"".join(rows)


def unfilter(kind, row, above):
    if kind == 0:
        return row
    if kind == 1:
        out = bytearray(len(row))
        for channel in range(3):
            out[channel::3] = bytes(accumulate(row[channel::3], lambda left, step: (left + step) & 255))
        return bytes(out)
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(row, above))
    assert kind in (3, 4), f"filter {kind}"
    out = bytearray(len(row))
    for i, value in enumerate(row):
        left, corner = (out[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        out[i] = (value + ((left + above[i]) // 2 if kind == 3 else paeth(left, above[i], corner))) & 255
    return bytes(out)


def paeth(left, up, corner):
    a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    return left if a <= b and a <= c else up if b <= c else corner


class Gif:
    """width, height, loops (0: for ever) and frames: (delay in ms, bytes [height, width, 3] as shown)."""

    def __init__(self, content):
        self.content, self.at = content, 0
        assert self.take(6) == b"GIF89a", "no animated GIF"
        self.width, self.height, flags, _, _ = struct.unpack("<HHBBB", self.take(7))
        assert flags & 0x80, "no palette"
        table = self.take(3 * (2 << (flags & 7)))
        self.colors = [table[i:i + 3] for i in range(0, len(table), 3)]
        self.loops, self.frames, self.boxes = None, [], []
        shown, delay = [b"\0\0\0"] * (self.width * self.height), 0
        while True:
            mark = self.take(1)
            if mark == b";":
                break
            if mark == b"!":
                kind, body = self.take(1), self.blocks()
                if kind == b"\xf9":
                    delay = 10 * struct.unpack("<H", body[1:3])[0]
                    assert body[0] & 1 == 0 and body[0] >> 2 & 7 in (0, 1), "transparency or disposal"
                elif kind == b"\xff" and body[:11] == b"NETSCAPE2.0":
                    self.loops = struct.unpack("<H", body[12:14])[0]
            else:
                assert mark == b",", f"unknown block {mark}"
                self.draw(shown)
                self.frames.append((delay, b"".join(shown)))
        assert self.at == len(content), "something follows the end"

    def take(self, count):
        part = self.content[self.at:self.at + count]
        assert len(part) == count, "the file ends too early"
        self.at += count
        return part

    def blocks(self):
        parts = []
        while (size := self.take(1)[0]) > 0:
            parts.append(self.take(size))
        return b"".join(parts)

    def draw(self, shown):
        left, top, width, height, flags = struct.unpack("<HHHHB", self.take(9))
        assert flags & 0xc0 == 0, "a palette of its own, or interlaced"
        assert left + width <= self.width and top + height <= self.height, "a frame beyond the picture"
        bits = self.take(1)[0]
        pixels = unpack_lzw(bits, self.blocks())
        assert len(pixels) == width * height, "pixels are missing"
        self.boxes.append((left, top, width, height))
        for y in range(height):
            start = (top + y) * self.width + left
            shown[start:start + width] = [self.colors[i] for i in pixels[y * width:(y + 1) * width]]


def unpack_lzw(bits, packed):
    clear, end = 1 << bits, (1 << bits) + 1
    table, size, last, out = [], bits + 1, None, []
    at, window, have = 0, 0, 0  # the bits that were read and not used
    while True:
        while have < size:
            window |= packed[at] << have
            at, have = at + 1, have + 8
        code, window, have = window & ((1 << size) - 1), window >> size, have - size
        if code == clear:
            table = [bytes([i]) for i in range(clear)] + [b"", b""]
            size, last = bits + 1, None
            continue
        if code == end:
            return b"".join(out)
        if last is None:
            entry = table[code]
        else:
            entry = table[code] if code < len(table) else last + last[:1]
            if len(table) < 4096:
                table.append(last + entry[:1])
        out.append(entry)
        last = entry
        if len(table) == 1 << size and size < 12:
            size += 1
