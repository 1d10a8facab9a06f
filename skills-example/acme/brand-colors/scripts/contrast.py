#!/usr/bin/env python3
"""Print the WCAG 2 contrast ratio of two colors.

usage: contrast.py TEXT BACKGROUND      colors as #RGB or #RRGGBB
exit: 0 good for all text (4.5 or more), 1 below that, 2 wrong usage
"""
import re
import sys


def channels(color):
    """The red, green and blue of a hex color, each from 0 to 1."""
    digits = color.lstrip("#")
    if len(digits) == 3:
        digits = "".join(d * 2 for d in digits)
    if not re.fullmatch(r"[0-9a-fA-F]{6}", digits):
        raise ValueError(f"not a hex color: {color}")
    return [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]


def luminance(color):
    """The relative luminance that WCAG 2 defines."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        ratio = contrast(*arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if ratio >= 7:
        verdict = "good for all text (AAA)"
    elif ratio >= 4.5:
        verdict = "good for all text (AA)"
    elif ratio >= 3:
        verdict = "only for large text and icons"
    else:
        verdict = "not readable"
    print(f"{ratio:.2f} {verdict}")
    return 0 if ratio >= 4.5 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
