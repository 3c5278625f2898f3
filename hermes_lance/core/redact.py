"""The one filter for secret-looking values: what leaves through it holds a mask where a credential stood.

Three kinds of evidence: a known credential shape (`ghp_…`, a private key block), a place where credentials stand (user
info of a URL, an `Authorization` header), and a secret-like name with a value (`api_key: …`, `--token …`). Lines are
never added or removed, so that line numbers of a redacted passage still hold. Masking twice changes nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter

MASK = "<redacted>"
"""Stands for a value that was taken out."""

_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      gh[pousr]_[A-Za-z0-9]{20,255} | github_pat_[A-Za-z0-9_]{20,255}
    | gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_\-]{16,128}
    | sk-(?=[a-z_\-]{0,24}[A-Z0-9])[A-Za-z0-9_\-]{16,255}
    | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,128} | whsec_[A-Za-z0-9+/=]{16,128}
    | xox[abeoprs]-[A-Za-z0-9\-]{10,255} | xapp-[A-Za-z0-9\-]{10,255}
    | (?:AKIA|ASIA|AIDA|AROA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | AIza[A-Za-z0-9_\-]{30,80} | ya29\.[A-Za-z0-9_\-]{20,255} | GOCSPX-[A-Za-z0-9_\-]{20,60}
    | eyJ[A-Za-z0-9_\-]{8,2000}\.[A-Za-z0-9_\-]{4,4000}(?:\.[A-Za-z0-9_\-]{0,2000})?
    | (?:hf|npm|r8|nfp|gsk|tvly|fo1|ntn|sbp|pplx|xai|fw|jina|napi|glsa|dapi|lin_api|lin_oauth|fig[dou]|pscale_tkn)
        [_\-]?(?=[A-Za-z_]{0,40}\d)[A-Za-z0-9_\-]{20,255}
    | pypi-[A-Za-z0-9_\-]{16,255} | dckr_pat_[A-Za-z0-9_\-]{16,64} | do[opr]_v1_[a-f0-9]{32,80}
    | shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32} | SG\.[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,64}
    | key-[a-f0-9]{32}(?![A-Za-z0-9]) | SK[a-f0-9]{32}(?![A-Za-z0-9]) | hv[sbr]\.[A-Za-z0-9_\-]{20,255}
    | dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_\-]{16,80} | PMAK-[a-f0-9\-]{30,80} | NRAK-[A-Z0-9]{20,40}
    | ATATT3[A-Za-z0-9_\-=]{20,255} | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{40,100}
    | AGE-SECRET-KEY-1[A-Z0-9]{40,70} | \d{8,10}:AA[A-Za-z0-9_\-]{30,40}
    )
    # These are told even where they follow a letter.
    | gh[pousr]_[A-Za-z0-9]{36,255} | github_pat_[A-Za-z0-9_]{60,255} | glpat-[A-Za-z0-9_\-]{20,128}
    | xox[abp]-\d{6,20}-[A-Za-z0-9\-]{10,255}""",
    re.VERBOSE,
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_.:+/=\-]{14,}")
"""Where a shape can be at all; looking for the shapes everywhere costs ten times more."""
_ESCAPED_RUN = re.compile(rf"(\\[nrt]|%[0-9A-Fa-f]{{2}})?({_LONG_RUN.pattern})")
"""The same where the last letter of an escape may stand before it, as in a string of JSON or a part of a URL."""
_HOOK_PATHS = re.compile(
    r"(?i)((?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks"
    r"|api\.telegram\.org/bot|outlook\.office\.com/webhook)/?)[^\s\"'`<>)\]]{8,300}"
)
_URL_SEGMENT = re.compile(
    r"(?i)(://[^\s\"'`<>?#]{1,300}?/(?:hooks?|webhooks?|tokens?|keys?|secrets?|services|bots?|auth)/)"
    r"([A-Za-z0-9_\-.=~]{16,255})"
)
_USER_INFO = re.compile(r"(?i)(?:\b|(?<=%[0-9a-f]{2}))([a-z][a-z0-9+.\-]{1,20}://)([^\s/\"'`<>?#]{1,300})@(?=[^\s@/])")
_QUERY = re.compile(
    r"(?i)([?&#;](?:[a-z0-9_.\-]{0,30}(?:token|secret|passw(?:or)?d|passwd|pwd|signature|credentials?|api[_\-]?key"
    r"|access[_\-]?key|auth)|sig|key|code|x-amz-[a-z\-]{0,30}(?:signature|token|credential))=)([^\s&#\"'`<>]{1,2000})"
)
_AUTHORIZATION = re.compile(
    r"(?i)((?:proxy-)?authorization[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?)"
    r"((?:[a-z][a-z0-9\-]{1,20}[ \t]+)?)([^\s\"'`,;]{3,4000})"
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic)([ \t]+)([A-Za-z0-9._~+/\-]{8,4000}={0,2})")
_COOKIE = re.compile(r"(?i)^([ \t>|*\-]{0,8}[\"'`]?(?:set-)?cookie[\"'`]?:[ \t]{0,3})([^\n]{3,4000})$")
_COOKIE_OPTION = re.compile(
    r"(?i)((?:(?<![\w\-])-h|--header)[ \t=]{0,3}[\"'](?:set-)?cookie:[ \t]{0,3}"
    r"|(?<![\w\-])--cookie[ \t=]{1,3}[\"']?(?=[^\s\"']{0,60}=))([^\"'\n]{3,4000})"
)

_STRONG = (
    r"passw(?:or)?d|passwd|passphrase|passcode|pwd|(?<=[_.\-])pass|passwort|kennwort|contraseña|senha|пароль|密码|密碼"
    r"|パスワード|비밀번호"
)
_WEAK = (
    r"token|secret|credentials?|(?<=[_.\-])auth"
    r"|(?:api|access|secret|private|signing|encryption|ssh)[_\-. ]?key"
    r"|(?:app|decryption|consumer|master|account|shared|storage|auth|session|client|service|webhook|license|licence"
    r"|subscription|deploy|admin|root|hmac|aes|rsa)[_\-.]?key"
)
_NAME = rf"(?P<word>(?P<strong>{_STRONG})|{_WEAK})(?P<tail>[A-Za-z0-9_\-.]{{0,40}}+)"
_VALUE = (
    r"(?P<value>\"(?:[^\"\\\n]|\\.){0,2000}\"|'(?:[^'\\\n]|\\.){0,2000}'|`[^`\n]{0,2000}`"
    r"|(?:(?![;&,]\s?[\w.\- ]{1,30}=)[^\s\"'`]){1,2000})"
)
_PAIR = re.compile(
    rf"(?i){_NAME}(?P<close>[\"'`\])*]{{0,3}})(?P<sep>[ \t]{{0,8}}(?:=>|:=|={{1,2}}|:|：)[ \t]{{0,8}}){_VALUE}"
)
_OPTION = re.compile(rf"(?i)(?P<lead>(?<![\w\-])--?[a-z0-9\-]{{0,30}}){_NAME}(?P<close>)(?P<sep>[ \t]{{1,4}}){_VALUE}")
_SPOKEN = re.compile(
    rf"(?i)\b(?P<word>(?P<strong>{_STRONG})|{_WEAK})(?P<sep>[ \t]+(?:is|was|ist|lautet)[ \t:]+){_VALUE}"
)
_NEARBY = re.compile(
    r"(?i)\b((?:token|secret|password|passphrase|credential|api[ _\-]?key|access[ _\-]?key|private[ _\-]?key)s?\b"
    r"[^\n;]{0,40}?[\s\"'`(:=])([A-Za-z0-9_+/\-.=~]{20,2000})"
)
_BLOCK_SCALAR = re.compile(
    rf"(?im)^(?P<head>(?P<indent>[ \t]*+)[^\n:#]{{0,60}}(?:{_STRONG}|{_WEAK})[\"']?[ \t]*+:[ \t]*+"
    r"[|>][+\-0-9]{0,2}[ \t]*+\n)(?P<body>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z))+)"
)
_COMMANDS = re.compile(
    r"(?i)((?:\bmy(?:sql|sqldump|sqladmin)\b|\bmariadb\b)[^\n]{0,200}?[ \t]-p|\bsshpass[ \t]+-p[ \t]*"
    r"|\blogin[ \t]+\S{1,100}[ \t]+password[ \t]+"
    r"|(?:[ \t]-u|--user|--proxy-user)[ \t=]+[\"']?[^\s:\"']{1,100}:)([^\s\"'@]{3,300})"
)
_SHORT_OPTION = re.compile(r"(?<![\w\-])(-[A-Za-z][ \t]+[\"']?)([A-Za-z0-9_+/\-.=~]{16,2000})")

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_TAIL = re.compile(r"\A(?:[A-Za-z0-9+/=]{1,80}[ \t]*\r?\n)+")
_BASE64_LINES = re.compile(r"(?m)^(?:[ \t]*[A-Za-z0-9+/]{60,80}={0,2}[ \t]*(?:\r?\n|\Z)){2,}")
_LINE_BODY = re.compile(r"[^\s][^\n]*")

_GATES = (
    "token", "secret", "credential", "passw", "passphrase", "passcode", "pwd", "_pass", "-pass", ".pass", "key", "auth",
    "kennwort", "contraseña", "senha", "пароль", "密码", "密碼", "パスワード", "비밀번호",
)  # fmt: skip
"""A line without any of these holds no secret-like name."""

_LOCATORS = frozenset(
    """
    url uri endpoint file filename path dir directory folder name id ids type kind count counts limit limits length size
    ttl age expiry expires expiration expired timeout policy field label prompt hint header prefix suffix format regex
    pattern manager store provider class algorithm strategy version index budget usage window max min rotation required
    enabled valid validator template param parameter parameters env var variable ref source exists less ing ed ize ized
    izer izers ization er ers based reset length auth scope scopes bucket s
    """.split()  # noqa: SIM905 (read as words)
)
"""A name that ends in one of these speaks about a secret and does not hold one."""

_WORDS = frozenset(
    """
    a an and any are as at be been by can for from get has have in into is it its may must no none not null nil of on or
    per set should string str bytes bool boolean int integer number object any optional required true false undefined
    that the this to type unit use used value was when where which who will with you your option flag argument parameter
    self yes empty missing here there above below file change changed reset protected expired rotated invalid wrong
    """.split()  # noqa: SIM905
)
"""What follows a secret-like name in prose, type annotations and defaults."""

_PLACEHOLDER = re.compile(
    r"(?i)\A(?:<[a-z/].*|\$\{?[\w.\-:]*\}?|\$\(.*|\$\{\{.*|\{\{.*|\{[\w.\[\]'\"!:]{0,60}\}|%[\w()]{1,40}%?s?|[*.•x_\-…]{2,}"
    r"|\[?redacted\]?|«.*|your[_\- ].*|\[your.*|enc\[.*|!vault.*|[|>][+\-]?|\\[nrt\"'].*)\Z",
    re.DOTALL,
)
_EXPRESSION = re.compile(
    r"(?:[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,6}[(\[]|(?:[a-z_]+|secrets|vars)\.[A-Za-z_.]+\Z|[({\[]|&?[A-Za-z_]+::)"
)
"""A call, an index or an attribute: code that fetches the value and does not show it."""
_CALL = re.compile(r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,6}\(.*\)\Z", re.DOTALL)


def redact(text: str) -> str:
    """`text` with `MASK` in place of every secret-looking value; lines keep their numbers."""
    if not text:
        return text
    text = mask_shapes(text)
    if "|" in text or ">" in text:
        text = _BLOCK_SCALAR.sub(lambda found: found["head"] + _masked_lines(found["body"]), text)
    return "\n".join(_line(line) for line in text.split("\n"))


def mask_shapes(text: str) -> str:
    """The same for what is a credential by its own form: known shapes, key blocks, user info and parameters of URLs.

    For short texts such as file names, where a word like `token` says nothing about what stands beside it.
    """
    if "\n" in text:
        text = _BASE64_LINES.sub(_base64, _key_blocks(text) if "PRIVATE KEY" in text else text)
    if "://" in text:
        text = _USER_INFO.sub(_user_info, text)
        text = _HOOK_PATHS.sub(rf"\1{MASK}", text)
        text = _QUERY.sub(lambda found: found[0] if _harmless(found[2]) else found[1] + MASK, text)
        text = _URL_SEGMENT.sub(_if_random, text)
    if "\\" in text or "%" in text:
        return _ESCAPED_RUN.sub(lambda run: (run[1] or "") + _SHAPES.sub(MASK, run[2]), text)
    return _LONG_RUN.sub(lambda run: _SHAPES.sub(MASK, run[0]), text)


def _line(line: str) -> str:
    lowered = line.lower()
    # Most lines hold none of these words, and the patterns below cost a hundred times more than this look.
    if any(word in lowered for word in ("auth", "bearer", "basic", "cookie")):
        line = _SCHEME.sub(_scheme, _AUTHORIZATION.sub(_authorization, line))
        line = _COOKIE_OPTION.sub(rf"\1{MASK}", _COOKIE.sub(rf"\1{MASK}", line))
    if any(word in lowered for word in _GATES):
        for pattern in (_PAIR, _OPTION, _SPOKEN):
            line = pattern.sub(_pair, line)
        line = _NEARBY.sub(_if_random, line)
    if " -" in line or "login" in lowered:
        line = _COMMANDS.sub(lambda found: found[0] if _harmless(found[2]) else found[1] + MASK, line)
        line = _SHORT_OPTION.sub(_if_random, line)
    return line


def looks_random(value: str) -> bool:
    """True for a run that was made by a machine: letters and digits mixed, no words between separators."""
    value = value.strip("=.")
    digits = sum(character.isdigit() for character in value)
    if len(value) < 16 or digits < 2 or digits == len(value) or value.startswith(("/", "./", "~")):
        return False
    parts = [part for part in re.split(r"[-_./+=~]", value) if part]
    if all(part.isdigit() or part.isalpha() for part in parts) and len(parts) > 1:
        return False
    if re.search(r"\.[a-z]{1,5}\Z", value):
        return False
    counts = Counter(value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return entropy >= 3.0


def _key_blocks(text: str) -> str:
    """Key blocks with masked lines, also where a passage begins or ends inside one."""
    parts: list[str] = []
    at = 0
    while begin := _KEY_BEGIN.search(text, at):
        end = _KEY_END.search(text, begin.end())
        stop = end.start() if end else len(text)
        parts += [text[at : begin.end()], _masked_lines(text[begin.end() : stop])]
        at = stop
    text = "".join(parts) + text[at:]
    tail = _KEY_TAIL.match(text)
    return _masked_lines(tail[0]) + text[tail.end() :] if tail and _KEY_END.match(text, tail.end()) else text


def _masked_lines(block: str) -> str:
    return _LINE_BODY.sub(lambda line: line[0] if line[0].startswith(MASK) else MASK, block)


def _base64(found: re.Match[str]) -> str:
    block = found[0]
    hexadecimal = not re.search(r"[G-Zg-z+/]", block)
    one_case = block.lower() == block or block.upper() == block
    return block if hexadecimal or one_case else _masked_lines(block)


def _harmless(value: str) -> bool:
    return not value or MASK in value or bool(_PLACEHOLDER.match(value))


def _user_info(found: re.Match[str]) -> str:
    scheme, info = found[1], found[2]
    name, colon, password = info.partition(":")
    if (not colon and not scheme.lower().startswith("http")) or _harmless(password or name):
        return found[0]
    return f"{scheme}{MASK}@"


def _authorization(found: re.Match[str]) -> str:
    head, scheme, value = found.groups()
    plain_word = not re.search(r"[\d_\-+/=]|\B[A-Z]", value) and (not scheme or len(value) < 16)
    if _harmless(value) or value.lower() in _WORDS or plain_word or _EXPRESSION.match(value):
        return found[0]
    if scheme and scheme.strip().lower() not in {"bearer", "basic", "token", "digest", "apikey", "negotiate", "key"}:
        return found[0] if not looks_random(value) else f"{head}{scheme}{MASK}"
    return f"{head}{scheme}{MASK}"


def _scheme(found: re.Match[str]) -> str:
    value = found[3]
    words = re.fullmatch(r"[A-Za-z][a-z]*(?:[-_./][A-Za-z][a-z]*)*\.?", value)
    return found[0] if words or _harmless(value) else f"{found[1]}{found[2]}{MASK}"


def _if_random(found: re.Match[str]) -> str:
    return found[1] + MASK if looks_random(found[2]) else found[0]


def _pair(found: re.Match[str]) -> str:
    raw = found["value"]
    quoted = raw[0] in "\"'`"
    value = raw[1:-1] if quoted else raw.rstrip(",;:.)]}")
    if not re.search(r"\w", value) or value.startswith("--") or _harmless(value) or _speaks_of_it(found, value):
        return found[0]
    if _is_named(found, value) if quoted else _is_prose_or_code(found, raw, value):
        return found[0]
    at = found.start("value") - found.start() + (1 if quoted else 0)
    whole = found[0]
    return whole[:at] + MASK + whole[at + len(value) :]


def _speaks_of_it(found: re.Match[str], value: str) -> bool:
    """The name is about a secret (`token_count`, `tokens`) and the value is none by its looks."""
    tail = found.groupdict().get("tail") or ""
    if not tail or looks_random(value):
        return False
    parts = re.split(r"[_\-.]|(?<=[a-z])(?=[A-Z\d])", tail)
    longer_word = tail[0].islower() or (tail[0].isalpha() and found["word"].isupper())
    return longer_word or any(part.lower() in _LOCATORS for part in parts if part)


def _is_named(found: re.Match[str], value: str) -> bool:
    """A quoted value that names the secret, is compared with it, is code, or is too short to be one."""
    if found["strong"]:
        return bool(_CALL.match(value))
    compared = found["sep"].strip() == "==" and not looks_random(value)
    return compared or len(value) < 3 or _letters(value) == _letters(found["word"]) or bool(_CALL.match(value))


def _repeats(found: re.Match[str], value: str) -> bool:
    """`token=args.token` and `token_value=token_value` hand a value on."""
    name = found["word"]
    return _letters(value).endswith((_letters(name), _letters(name + (found.groupdict().get("tail") or ""))))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _is_prose_or_code(found: re.Match[str], raw: str, value: str) -> bool:
    """An unquoted value that is a word of prose, a type, or an expression that fetches the secret."""
    if value.lower() in _WORDS or _EXPRESSION.match(value) or _repeats(found, value):
        return True
    strong, separator = found["strong"], found["sep"]
    if not re.fullmatch(r"[^\W\d_]+(?:[_\-/][^\W\d_]+)*|_[a-z_]+", value):
        return not strong and bool(re.fullmatch(r"\d{1,7}(?:\.\d+)?|0x[0-9a-f]{1,8}", value))
    rest = found.string[found.end() : found.end() + 200].split("\n", 1)[0].strip(" \t\"'`,;.)]}")
    if strong:
        return separator.strip() not in {"=", ":="} and bool(rest)
    # `api_key: value` is a setting; `api_key = variable`, `"api_key": variable,` and `api_key=variable)` are code.
    code = rest or separator.startswith((" ", "\t")) or (found.groupdict().get("close") or "") or raw != value
    return (bool(code) or len(value) < 8) and not (value.isupper() and len(value) > 15)
