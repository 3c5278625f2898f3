"""Numbers of a workbook as its cells show them: dates, percentages, currencies, leading zeros.

Format codes: ECMA-376 part 1, 18.8.30 and 18.8.31. Thousands are not set apart and the decimal mark is a dot, so that
a number can be looked for; dates are ISO 8601. Fractions, exponents and codes beyond that show the plain number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0",
    38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys((*range(32, 36),), "h:mm:ss"),
}  # fmt: skip
"""Codes that files name by number only; 27 to 58 are dates and times of East Asian locales."""

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|(\[h+\]|\[m+\]|\[s+\])|\[[^\]]*\]|(.)', re.IGNORECASE)
_LAST_DAY = 2_958_466
_MOST_CODE = 255


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How one code shows numbers. `kind` is general, number, percent, date, time, moment or elapsed."""

    kind: str = "general"
    decimals: int = 0
    digits: int = 1
    before: str = ""
    after: str = ""

    def shown(self, value: float, *, since_1904: bool = False) -> str:
        """The number as text."""
        if self.kind in ("date", "time", "moment") and 0 <= value < _LAST_DAY:
            return _moment(value, self.kind, since_1904)
        if self.kind == "elapsed":
            seconds = round(abs(value) * 86_400)
            sign = "-" if value < 0 else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        if self.kind in ("number", "percent"):
            scaled = abs(value) * (100 if self.kind == "percent" else 1)
            body = f"{scaled:.{self.decimals}f}"
            width = self.digits + (self.decimals + 1 if self.decimals else 0)
            sign = "-" if value < 0 and float(body) else ""
            return f"{self.before}{sign}{body.zfill(width)}{self.after}".strip()
        return general(value)


def general(value: float) -> str:
    """A number without a format: whole ones without a dot, others with at most fifteen digits."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def number_format(code: str) -> NumberFormat:
    """What a format code says, as far as it is understood."""
    positive = _first_section(code[:_MOST_CODE])
    literal_before = literal_after = plain = ""
    elapsed = False
    for quoted, escaped, currency, total, char in _TOKEN.findall(positive):
        literal = quoted or escaped or currency
        elapsed = elapsed or bool(total)
        plain += char
        if literal or char in "$€£¥ ":
            piece = literal or char
            if re.search("[0#?]", plain):
                literal_after += piece
            else:
                literal_before += piece
    lowered = plain.lower().replace("general", "")
    if elapsed:
        return NumberFormat("elapsed")
    if re.search("[ymdhs]", re.sub("am/pm|a/p", "h", lowered)):
        day = "y" in lowered or "d" in lowered or not re.search("[hs]", lowered)
        clock = re.search("[hs]", lowered) is not None
        return NumberFormat("moment" if day and clock else "date" if day else "time")
    digits = re.search(r"[0#?][0#?,]*(?:\.([0#?]*))?", plain)
    if digits is None or "e+" in lowered or "e-" in lowered or "/" in lowered or plain.rstrip(" %").endswith(","):
        return NumberFormat()
    whole = digits[0].partition(".")[0]
    places = min(len(digits[1] or ""), 15)
    if "%" in plain:
        return NumberFormat("percent", places, max(1, whole.count("0")), literal_before, "%" + literal_after.strip())
    return NumberFormat("number", places, max(1, whole.count("0")), literal_before, literal_after)


def _first_section(code: str) -> str:
    """The code for positive numbers: up to the first semicolon that is not quoted."""
    quoted = False
    for place, char in enumerate(code):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted and code[place - 1 : place] != "\\":
            return code[:place]
    return code


def _moment(value: float, kind: str, since_1904: bool) -> str:
    # Day 60 is 29 February 1900, which never was; before it the count is one behind.
    start = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    moment = start + timedelta(seconds=round(value * 86_400))
    clock = moment.strftime("%H:%M:%S").removesuffix(":00")
    if kind == "time" and value < 1:
        return clock
    day = moment.strftime("%Y-%m-%d")
    return day if kind == "date" and value == int(value) else f"{day} {clock}" if clock != "00:00" else day
