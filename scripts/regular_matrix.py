#!/usr/bin/env python3
"""Writes a regular parity-check matrix by progressive edge growth as an alist (D. J. C. MacKay), the same bytes for the same arguments.

    python3 scripts/regular_matrix.py CHECKS COLUMNS ONES_OF_A_COLUMN > FILE

Each new edge goes to one of the checks that are farthest from its column, which keeps short cycles away. Among these it takes one with the
fewest edges. A check gets at most its share of the edges (X.-Y. Hu, E. Eleftheriou, D. M. Arnold, IEEE Trans. Inf. Theory, 2005).
"""
import random
import sys


def farthest(column, of_columns, of_checks, free):
    """Free checks that no path from the column reaches; if there are none, those that the longest paths reach."""
    reached, front, before = set(), {column}, set()
    seen_columns = {column}
    while front:
        new = {c for v in front for c in of_columns[v]} - reached
        if not new:
            break
        reached |= new
        if not free - reached:
            return free - before if free - before else free
        before = set(reached)
        front = {v for c in new for v in of_checks[c]} - seen_columns
        seen_columns |= front
    return free - reached


def regular(checks, columns, ones):
    """The checks of each column."""
    generator = random.Random(1)
    share = -(-columns * ones // checks)
    of_columns, of_checks = [[] for _ in range(columns)], [[] for _ in range(checks)]
    for column in range(columns):
        for _ in range(ones):
            free = {c for c in range(checks) if len(of_checks[c]) < share and c not in of_columns[column]}
            choice = farthest(column, of_columns, of_checks, free)
            fewest = min(len(of_checks[c]) for c in choice)
            check = generator.choice(sorted(c for c in choice if len(of_checks[c]) == fewest))
            of_columns[column].append(check)
            of_checks[check].append(column)
    return of_columns, of_checks


def alist(of_columns, of_checks):
    rows = [sorted(row) for part in (of_columns, of_checks) for row in part]
    degrees = [[len(row) for row in part] for part in (of_columns, of_checks)]
    lines = [[len(of_columns), len(of_checks)], [max(part) for part in degrees], *degrees, *([i + 1 for i in row] for row in rows)]
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def main():
    if len(sys.argv) != 4 or not all(argument.isdigit() for argument in sys.argv[1:]):
        sys.exit(__doc__)
    sys.stdout.write(alist(*regular(*map(int, sys.argv[1:]))))


if __name__ == "__main__":
    main()
