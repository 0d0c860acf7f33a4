"""A program on a terminal of the test's own: what it shows there, byte by byte."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import unittest


def start(command: list, columns: int, environment: dict) -> tuple[subprocess.Popen, int]:
    """The process, and our end of its terminal. Skips the test where there are no pseudo-terminals."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # such as in a bare chroot
        raise unittest.SkipTest(str(error)) from error
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
    env = {key: value for key, value in environment.items() if key != "COLUMNS"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    return process, ours


def read(ours: int) -> bytes:
    """All that comes until the program has ended."""
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:
        pass  # how Linux says that the other end has closed
    os.close(ours)
    return seen


def shown(command: list, columns: int, environment: dict) -> tuple[int, bytes]:
    """The exit code, and what the program shows."""
    process, ours = start(command, columns, environment)
    seen = read(ours)
    return process.wait(), seen
