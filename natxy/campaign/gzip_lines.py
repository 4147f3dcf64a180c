"""Lines of text in a gzip file, of which each group can be read as soon as it is written.

A gzip file has members (RFC 1952 section 2.2). Here a member holds many groups of lines, so that a
group is compressed with the help of those before it. An empty block that ends on a whole octet
follows each group (zlib's Z_SYNC_FLUSH), so that the group is complete without the member's end.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # of a member: deflate, no name, no time, no system
MARK = b"\0\0\xff\xff"  # the end of an empty block, and sometimes other data
LAST_BLOCK = b"\x03\0"  # an empty one that ends the member's data
LEVEL = 6  # of compression; 9 saves 1 % more
RAW = -zlib.MAX_WBITS
GZIP = 16 + zlib.MAX_WBITS
CHUNK = 1 << 16
MOST_TEXT = 1 << 29  # octets of a group: what compresses well must not fill the memory


@dataclass(frozen=True, kw_only=True)
class Check:
    """The text of a member so far, as its end names it."""

    crc: int = 0
    octets: int = 0

    def after(self, text: bytes | bytearray) -> "Check":
        return Check(crc=zlib.crc32(text, self.crc), octets=self.octets + len(text))

    @property
    def ending(self) -> bytes:
        """Returns the octets that end the member after this text."""
        return LAST_BLOCK + struct.pack("<LL", self.crc, self.octets & 0xFFFFFFFF)


@dataclass(frozen=True, kw_only=True)
class Group:
    text: bytes
    end: int  # its place in the file, in octets
    ending: bytes  # what would end the member here; empty: it has ended


@dataclass(frozen=True, kw_only=True)
class _State:
    size: int  # of the file, in octets, with all whole groups
    ending: bytes = b""  # what ends the open member; empty: none is open
    deflate: Any = None  # compresses the next group; None: a new member begins with it
    check: Check = Check()


class GzipLines:
    """Appends groups of lines to an open file. A group is in it as a whole, or not at all."""

    def __init__(self, file: int, ending: bytes = b"") -> None:
        """`ending` ends the last member, which was left open."""
        self._file = file
        self._state = _State(size=os.fstat(file).st_size, ending=ending)

    def append(self, text: bytes) -> None:
        """Writes a group and waits until it is on the disk; raises OSError and leaves the file as
        it was."""
        state = self._state
        data = b""
        if state.deflate is None:
            data = state.ending + HEADER
            deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
            state = replace(state, deflate=deflate, check=Check())
        data += state.deflate.compress(text) + state.deflate.flush(zlib.Z_SYNC_FLUSH)
        check = state.check.after(text)
        self._write(data, replace(state, check=check, ending=check.ending))

    def end(self) -> None:
        """Ends the member, so that every program reads the file without a complaint."""
        if self._state.ending:
            self._write(self._state.ending, _State(size=self._state.size))

    def _write(self, data: bytes, after: _State) -> None:
        # If this does not end, the compressor knows text that is not in the file.
        before = self._state = replace(self._state, deflate=None)
        try:
            os.ftruncate(self._file, before.size)  # an interrupt may have left a part of a group
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            self._state = replace(after, size=before.size + len(data))
            os.fsync(self._file)
        except OSError:
            self._state = before
            with suppress(OSError):
                os.ftruncate(self._file, before.size)
            raise


def groups(data: bytes) -> Iterator[Group]:
    """Yields the whole groups of a gzip file; what follows the last one is skipped.

    A member that another program wrote may be one group. Raises zlib.error if a member is damaged,
    or a group is too large.
    """
    at = 0
    while at < len(data):
        member, text, check = zlib.decompressobj(GZIP), bytearray(), Check()
        while not member.eof:
            mark = data.find(MARK, at, at + CHUNK + len(MARK) - 1)
            end = min(at + CHUNK, len(data)) if mark < 0 else mark + len(MARK)
            if at == end:
                return  # the member has no end
            text += member.decompress(data[at:end])
            if len(text) > MOST_TEXT:
                raise zlib.error(f"more than {MOST_TEXT:,} octets in a group of lines")
            at = end - len(member.unused_data)
            if mark < 0 or member.eof:
                continue
            after = check.after(text)
            if _is_between_blocks(member, after.ending):
                yield Group(text=bytes(text), end=at, ending=after.ending)
                text, check = bytearray(), after
        yield Group(text=bytes(text), end=at, ending=b"")


def _is_between_blocks(member: Any, ending: bytes) -> bool:
    """Returns whether the ending would end the member; in the middle of a block it cannot."""
    copy = member.copy()
    try:
        return not copy.decompress(ending) and copy.eof
    except zlib.error:
        return False
