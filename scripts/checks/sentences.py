#!/usr/bin/env python3
"""Long sentences in comments, docstrings, texts of settings and pages. Usage: sentences.py [--list N] [PATH...]

A sentence ends with a full stop, a question mark, a colon or its paragraph. Code in backticks is one word, and so are a formula in dollars and a list of such code; what has no letter is none.
Fails for a sentence of more than MOST words, and where more sentences than ALLOWED have over GOOD. --list N prints those of over N words.
"""
import ast
import io
import pathlib
import re
import subprocess
import sys
import tokenize

MOST, GOOD = 34, 25
ALLOWED = 75  # may only fall

LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')


def of_cpp(text):
    """Blocks of whole-line comments, comments behind code, and texts of several words, each with its line."""
    blocks, lines = [], text.split("\n")
    code = []
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s*//+!?<? ?(.*)", line)
        if found:
            column = line.index("//")
            if blocks and blocks[-1][2:] == [number - 1, column]:
                blocks[-1][1].append(found[1])
                blocks[-1][2] = number
            else:
                blocks.append([number, [found[1]], number, column])
            code.append("")
            continue
        plain = LITERAL.sub(lambda m: " " * len(m[0]), line)
        begin = plain.find("//")
        if begin >= 0 and plain[max(begin - 1, 0)] != ":":
            blocks.append([number, [line[begin + 2:].lstrip("/!< ").rstrip()], number, begin])
        code.append(line if begin < 0 else line[:begin])
    for number, part, *_ in blocks:
        yield number, "\n".join(part)
    whole = "\n".join(code)
    for found in LITERAL.finditer(whole):
        literal = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[0])).replace("\\n", "\n").replace('\\"', "'")
        if literal.count(" ") > 12:
            yield whole.count("\n", 0, found.start()) + 1, literal


def of_python(text):
    blocks = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            number, column = token.start
            if blocks and blocks[-1][2:] == [number - 1, column]:
                blocks[-1][1].append(token.string.lstrip("#: "))
                blocks[-1][2] = number
            else:
                blocks.append([number, [token.string.lstrip("#: ")], number, column])
    for number, part, *_ in blocks:
        yield number, "\n".join(part)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (doc := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), doc


def of_page(text):
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"\$\$[^$]+\$\$|\$[^$\n]+\$", lambda m: "formula" + "\n" * m[0].count("\n"), text)
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        for cell in re.split(r"\n(?=\s*[-*|#]|\s*\d+\. )|\|", paragraph) if paragraph.strip() else []:
            yield number, cell
        number += paragraph.count("\n")


READERS = {".hpp": of_cpp, ".cpp": of_cpp, ".cu": of_cpp, ".py": of_python, ".md": of_page}
LEFT_OUT = re.compile(r"^(docs/notes/|CHANGELOG|docs/scenario\.md|licenses/|tests/golden/)")


def sentences(block):
    # The lines of an item become one.
    block = re.sub(r"(?m)^(\s*)((?:[-*]|\d+\.) )(.*(?:\n(?!\s*(?:[-*]|\d+\.) )\1 {2,3}\S.*)+)", lambda m: m[1] + m[2] + " ".join(m[3].split()), block)
    block = re.sub(r"`[^`]*`", "code", block)
    block = re.sub(r"code(?:(?:[,;]| and| or)\s+code)+", "code", block)  # a list of names
    block = re.sub(r"\]\([^)]*\)", "]", block)
    # An example or a table is indented, and a blank line or an item of a list ends a paragraph.
    for paragraph in re.split(r"\n\s*\n|\n(?=\s{2,}\S)|\n(?=\s*(?:[-*>]|\d+\.) )", block):
        if re.match(r"\s{2,}\S", paragraph) and not re.match(r"\s*(?:[-*]|\d+\.) ", paragraph) or paragraph.lstrip().startswith((">>>", "...")):
            continue
        for sentence in re.split(r"(?<=[.?!:])[\"')*]*(?:\s+|$)(?![a-z0-9]{0,3}[.])", paragraph):
            yield sentence


def words(sentence):
    return sum(bool(re.search(r"[A-Za-z]", word)) for word in sentence.split())


def main():
    arguments = sys.argv[1:]
    listed = int(arguments[1]) if arguments[:1] == ["--list"] else MOST
    paths = arguments[2:] if arguments[:1] == ["--list"] else arguments
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *paths], capture_output=True, text=True, check=True).stdout.split("\n")
    count = long = longest = 0
    for name in files:
        read = READERS.get(pathlib.PurePath(name).suffix)
        if read is None or LEFT_OUT.match(name) or not pathlib.Path(name).is_file():
            continue
        for line, block in read(pathlib.Path(name).read_text(encoding="utf-8")):
            for sentence in sentences(block):
                n = words(sentence)
                count += n > 2
                long += GOOD < n <= MOST
                longest += n > MOST
                if n > listed:
                    print(f"{name}:{line}: {n} words: {' '.join(sentence.split())}")
    print(f"{count} sentences; {long} have {GOOD + 1} to {MOST} words, of {ALLOWED} that may; {longest} have more")
    return 1 if longest or long > ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main())
