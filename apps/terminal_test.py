"""The command on terminals of several widths: .venv/bin/python -m pytest apps/terminal_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("WARPBAND_COMMAND", str(ROOT / "build/release/warpband"))
# A point that goes on until it is interrupted, behind a label that no terminal has room for.
LONG = "[code]\nk = 40\n[sweep]\nebn0_db = [30]\n[stop]\nframe_errors = 0\nmax_frames = 1000000000000000\n[[curve]]\nlabel = \"" + "a long label " * 20 + "\"\n"
QUICK = "code.k = 40\nsweep.ebn0_db = [0, 1]\nstop.max_frames = 50\n"


class Screen:
    """What a terminal shows: carriage returns, line feeds, moves up, wiping to the end, and lines that are too long."""

    def __init__(self, width):
        self.width, self.rows, self.row, self.column, self.wrapped = width, [""], 0, 0, 0

    def feed(self, text):
        for part in re.findall(r"\x1b\[\d*[A-Za-z]|\r|\n|[^\x1b\r\n]", text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.row, self.column = self.row + 1, 0
                if self.row == len(self.rows):
                    self.rows.append("")
            elif part.startswith("\x1b"):
                number, kind = int(part[2:-1] or 1), part[-1]
                if kind == "A":
                    self.row = max(0, self.row - number)
                elif kind == "J":
                    self.rows[self.row] = self.rows[self.row][:self.column]
                    del self.rows[self.row + 1:]
            else:
                if self.column == self.width:
                    self.wrapped += 1
                    self.row, self.column = self.row + 1, 0
                    if self.row == len(self.rows):
                        self.rows.append("")
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[:self.column] + part + line[self.column + 1:]
                self.column += 1

    def resize(self, width):
        """As terminals do that fold again what has become too long: the cursor stays at its character."""
        rows, cursor = [], 0
        for n, row in enumerate(self.rows):
            parts = [row[i:i + width] for i in range(0, max(1, len(row)), width)]
            if n == self.row:
                cursor, self.column = len(rows) + max(0, self.column - 1) // width, (max(0, self.column - 1) % width) + 1
            rows += parts
        self.rows, self.row, self.width = rows, cursor, width


class TerminalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, width, *arguments):
        """The command with a terminal for all three streams."""
        self.terminal, side = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.set_width(width)
        child = subprocess.Popen([COMMAND, *arguments], cwd=self.folder, stdin=side, stdout=side, stderr=side, start_new_session=True,
                                 preexec_fn=self.own_terminal)
        os.close(side)
        return child

    @staticmethod
    def own_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background commands ignore it

    def set_width(self, width):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))

    def read(self):
        """What the terminal gets next; "" at the end."""
        if not select.select([self.terminal], [], [], 60)[0]:
            self.fail("nothing came for a minute")
        try:
            return os.read(self.terminal, 65536).decode()
        except OSError:  # nobody holds the other side any more
            return ""

    def read_until(self, screen, text):
        while not any(text in row for row in screen.rows):
            more = self.read()
            self.assertNotEqual(more, "", screen.rows)
            screen.feed(more)

    def read_to_the_end(self, child):
        text = "".join(iter(self.read, ""))
        self.assertEqual(child.wait(60), 0, text)
        return text.replace("\r\n", "\n")

    def test_the_progress_line_is_one_line_at_every_width(self):
        (self.folder / "long.toml").write_text(LONG)
        for width in (150, 80, 60, 30):
            child = self.start(width, "sim", "long.toml")
            screen = Screen(width)
            self.read_until(screen, "[1/1]")
            seen = screen.rows[-1]
            for _ in range(3):
                screen.feed(self.read())
            child.send_signal(signal.SIGINT)
            child.wait(60)
            self.assertLess(len(seen), width)
            self.assertEqual(sum("[1/1]" in row for row in screen.rows), 1, screen.rows)
            if width >= 60:
                self.assertIn("frames", seen)

    def test_the_progress_line_follows_the_size_of_the_window(self):
        (self.folder / "long.toml").write_text(LONG)
        child = self.start(150, "sim", "long.toml")
        screen = Screen(150)
        self.read_until(screen, "[1/1]")
        for width in (60, 100):
            child.send_signal(signal.SIGSTOP)  # else it might write for the old width when the screen has the new one already
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
            while select.select([self.terminal], [], [], 0)[0]:
                screen.feed(self.read())
            screen.resize(width)
            self.set_width(width)
            child.send_signal(signal.SIGCONT)
            for _ in range(4):
                screen.feed(self.read())
            rows = [row for row in screen.rows if "[1/1]" in row]
            self.assertEqual(len(rows), 1, screen.rows)
            self.assertLess(len(rows[0]), width)
        child.send_signal(signal.SIGINT)
        child.wait(60)

    def test_tables_go_without_columns_where_there_is_no_room(self):
        (self.folder / "quick.toml").write_text(QUICK)
        kept = {150: ["Es/N0", "Eb/N0", "frames", "bit errors", "fr. errors", "BER", "FER", "95% interval", "Mb/s", "time"],
                80: ["Eb/N0", "frames", "fr. errors", "BER", "FER", "95% interval"], 60: ["Eb/N0", "fr. errors", "FER", "95% interval"],
                20: ["Eb/N0", "FER"]}
        for width, columns in kept.items():
            lines = self.read_to_the_end(self.start(width, "sim", "quick.toml", "--quiet")).split("\n")
            header = next(line for line in lines if "Eb/N0" in line)
            for column in kept[150]:
                self.assertEqual(column in header, column in columns, f"{column} in {width} columns: {header}")
            rows = [line for line in lines if re.match(r"\s*-?\d", line)]
            self.assertEqual(len(rows), 2, lines)
            for row in [header, *rows]:
                self.assertLess(len(row), width)
                self.assertEqual(len(row), len(header))

    def test_a_file_has_all_columns(self):
        (self.folder / "quick.toml").write_text(QUICK)
        run = subprocess.run([COMMAND, "sim", "quick.toml", "-o", "r.json"], cwd=self.folder, capture_output=True, text=True, check=True,
                             env={**os.environ, "COLUMNS": "40"})
        self.assertIn("Mb/s", run.stdout)
        self.assertTrue(json.loads((self.folder / "r.json").read_text())["complete"])


if __name__ == "__main__":
    unittest.main()
