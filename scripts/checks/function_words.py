#!/usr/bin/env python3
"""Parameters and variables named by a function word. Usage: function_words.py [ROOT]

A name is a noun that says what it holds: `position`, not `at`. Functions and methods may have such a name, as std::vector::at has.
In C++ a bare name that is not called is a variable: clang-format puts no space before the bracket of a call. Enumerators are none.
Printed are its declarations, or its first use where none is found.
"""
import ast
import pathlib
import re
import subprocess
import sys

WORDS = "at|of|all|most|own|mine|each|what|said|there|now".split("|")
NAME = rf"({'|'.join(WORDS)})\b"

NO_CODE = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|\benum\b[^{};]*\{[^}]*\}', re.S)
BARE = re.compile(rf"(?<!SUITE_P\()(?<!using )(?<!\w)(?<!(?<!\.\.)\.)(?<!->)(?<!::){NAME}(?![(<]|::)")
DECLARED = re.compile(r"(?:(\b\w[\w:]*)|(?<=\S)>|\.\.\.)[*&]* $|\bauto[&]* \[[\w, ]*$")  # behind it
BUILT = re.compile(rf"(\b\w[\w:]*|(?<=\S)>)[*&]* {NAME}\(([^),;]+)")  # type name(argument
PARAMETER = re.compile(r"\s*(?:[\w:]+(?:<.*>)?[*&]* )+\w+\s*(?:=.*)?$|\s*(?:[\w:]+[*&]+|[\w:]+<.*>|bool|int|std::size_t)\s*$|\s*(?:const )?\w+ \(&", re.S)
KEYWORDS = {"return", "co_return", "co_yield", "throw", "case", "else", "new", "delete", "goto", "operator"}


def of_cpp(text):
    code = NO_CODE.sub(lambda m: '""' + "\n" * m[0].count("\n"), text)
    used, declared = {}, set()
    for found in BARE.finditer(code):
        line = code.count("\n", 0, found.start()) + 1
        used.setdefault(found[1], line)
        before = DECLARED.search(code, max(found.start() - 200, 0), found.start())
        if before and before[1] not in KEYWORDS:
            declared.add((line, found[1]))
    for found in BUILT.finditer(code):
        if found[1] not in KEYWORDS and not PARAMETER.match(found[3]):
            declared.add((code.count("\n", 0, found.start(2)) + 1, found[2]))
    return declared | {(line, name) for name, line in used.items() if name not in {n for _, n in declared}}


def of_python(text):
    for node in ast.walk(ast.parse(text)):
        name = getattr(node, {ast.arg: "arg", ast.Name: "id", ast.Attribute: "attr", ast.ExceptHandler: "name"}.get(type(node), ""), None)
        if name in WORDS and not isinstance(getattr(node, "ctx", None), (ast.Load, ast.Del)):
            yield node.lineno, name


READERS = {".hpp": of_cpp, ".cpp": of_cpp, ".cu": of_cpp, ".cuh": of_cpp, ".py": of_python}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True)
    files = found = 0
    for name in filter(None, listed.stdout.split("\0")):
        read = READERS.get(pathlib.PurePath(name).suffix)
        if read is None or not (root / name).is_file():
            continue
        files += 1
        for line, word in sorted(set(read((root / name).read_text(encoding="utf-8")))):
            print(f"{name}:{line}: a variable is named `{word}`: expected a noun that says what it holds")
            found += 1
    print(f"{files} files looked at")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
