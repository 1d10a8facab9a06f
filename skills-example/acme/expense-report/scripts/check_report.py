#!/usr/bin/env python3
"""Check an expense report in CSV against the limits.

usage: check_report.py REPORT.csv
exit: 0 no problem, 1 problems (one a line), 2 the file cannot be read
"""
import csv
import datetime
import json
import pathlib
import sys
from decimal import Decimal, InvalidOperation

LIMITS = pathlib.Path(__file__).resolve().parent.parent / "assets" / "limits.json"
COLUMNS = ["date", "category", "amount", "people", "receipt", "note"]


def number(text):
    """A finite decimal number above zero, or None."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and value > 0 else None


def problems(row, limits):
    """Everything that is wrong with one line."""
    try:
        date = datetime.date.fromisoformat(row["date"])
        # Newer Pythons also read 20260303 as a date.
        if date.isoformat() != row["date"]:
            raise ValueError
        if date > datetime.date.today():
            yield "the date is in the future"
    except ValueError:
        yield f"the date is not YYYY-MM-DD: {row['date']!r}"
    amount = number(row["amount"])
    if amount is None:
        yield f"the amount is not a number above zero: {row['amount']!r}"
    if not (row["people"].isascii() and row["people"].isdigit() and int(row["people"]) > 0):
        yield f"people is not a whole number above zero: {row['people']!r}"
        return
    limit = limits["per_person"].get(row["category"])
    if limit is None:
        yield f"unknown category {row['category']!r}; known: {', '.join(limits['per_person'])}"
    if amount is None or limit is None:
        return
    allowed = limit * int(row["people"])
    if amount > allowed and not row["note"]:
        yield f"{amount:.2f} is above the limit of {allowed}; give the reason in note"
    if amount >= limits["receipt_from"] and not row["receipt"]:
        yield f"a receipt is needed from {limits['receipt_from']} on"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    limits = json.loads(LIMITS.read_text(encoding="utf-8"), parse_float=Decimal)
    try:
        with open(arguments[0], encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            if reader.fieldnames != COLUMNS:
                print(f"the first line must be {','.join(COLUMNS)}", file=sys.stderr)
                return 2
            totals, found = {}, 0
            for row in reader:
                row = {key: row[key].strip() for key in COLUMNS}
                for problem in problems(row, limits):
                    print(f"line {reader.line_num}: {problem}")
                    found += 1
                totals[row["category"]] = totals.get(row["category"], 0) + (number(row["amount"]) or 0)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        print(f"cannot read the report: {error}", file=sys.stderr)
        return 2
    for category, total in sorted(totals.items()):
        print(f"total {category}: {total:.2f}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
