#!/usr/bin/env python3
"""Print one line a column: type, missing, distinct, smallest and largest value.

usage: profile.py FILE [--delimiter CHARACTER]
exit: 0 done, 2 the file cannot be read
"""
import argparse
import csv
import datetime
import hashlib
import re
import sys

MISSING = {"", "NA", "N/A", "null", "-"}
MOST_DISTINCT = 10_000
# A leading zero means an identifier, and so text: 00123 is not the number 123.
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,30})")
NUMBER = re.compile(r"[+-]?(?=[0-9.])(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")


def kind(value):
    """The type of one cell and the value to compare it by."""
    if INTEGER.fullmatch(value):
        return "integer", int(value)
    if NUMBER.fullmatch(value):
        return "number", float(value)
    try:
        return "date", datetime.date.fromisoformat(value)
    except ValueError:
        return "text", value


class Column:
    def __init__(self, name):
        self.name, self.missing, self.kinds, self.distinct, self.ranges = name, 0, {}, set(), {}

    def add(self, cell):
        cell = cell.strip()
        if cell in MISSING:
            self.missing += 1
            return
        name, value = kind(cell)
        self.kinds[name] = self.kinds.get(name, 0) + 1
        if len(self.distinct) < MOST_DISTINCT:
            self.distinct.add(cell)
        low, high = self.ranges.get(name, (value, value))
        self.ranges[name] = (min(low, value), max(high, value))

    def row(self):
        kinds = " + ".join(f"{count} {name}" for name, count in sorted(self.kinds.items())) or "empty"
        distinct = len(self.distinct)
        shown = f"{distinct}+" if distinct == MOST_DISTINCT else str(distinct)
        # The range is that of the most frequent type; the others are the exceptions to look at.
        low, high = self.ranges[max(self.kinds, key=self.kinds.get)] if self.kinds else ("", "")
        return [self.name, kinds, str(self.missing), shown, str(low)[:24], str(high)[:24]]


def main():
    parser = argparse.ArgumentParser(description="Describe the columns of a CSV file.")
    parser.add_argument("file")
    parser.add_argument("--delimiter", help="default: guessed from the first line")
    options = parser.parse_args()
    try:
        with open(options.file, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = (options.delimiter or max(",;\t|", key=first.count)).replace("\\t", "\t")
            reader = csv.reader(file, delimiter=delimiter)
            columns = [Column(name) for name in next(reader, [])]
            if not columns:
                print("the file is empty", file=sys.stderr)
                return 2
            rows = ragged = repeated = 0
            seen = set()
            for cells in reader:
                if not cells:
                    continue
                rows += 1
                ragged += len(cells) != len(columns)
                # A digest keeps the memory for the search of duplicates small.
                mark = hashlib.sha256(repr(cells).encode()).digest()[:12]
                repeated += mark in seen
                seen.add(mark)
                for column, cell in zip(columns, cells + [""] * len(columns)):
                    column.add(cell)
    except UnicodeDecodeError:
        print("the file is not UTF-8; convert it first", file=sys.stderr)
        return 2
    except (OSError, TypeError, csv.Error) as error:
        print(f"cannot read the file: {error}", file=sys.stderr)
        return 2
    table = [["column", "types", "missing", "distinct", "smallest", "largest"]] + [c.row() for c in columns]
    widths = [max(len(row[i]) for row in table) for i in range(6)]
    print(f"{rows} rows, {len(columns)} columns, {repeated} duplicate rows, {ragged} rows of another length")
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
