"""What a secret looks like: one row a kind, each with a positive and a negative example in tests/tools.

A rule is tried only where one of its `literals` (lower case) occurs, and its pattern is matched at that place, so text
without the literals costs a substring search. Rules without literals are scanned for.
E-mail addresses, IP addresses, host names and ids stay: whoever is on call needs them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{4}\]")


@dataclass(frozen=True)
class Rule:
    """The secret is what the first matching group of `pattern` captured; `accept` may refuse it.

    `scan` searches the whole text once a literal occurs, for patterns that do not begin with their literal.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = bool
    scan: bool = False


def _token(kind: str, literals: str, pattern: str, accept: Callable[[str], bool] = bool) -> Rule:
    """A token of a known form, which begins with its literal and stands alone as a word."""
    return Rule(kind, tuple(literals.split()), re.compile(rf"(?<![A-Za-z0-9_])({pattern})(?![A-Za-z0-9])"), accept)


# ---------------------------------------------------------------- checks


def luhn(digits: str) -> bool:
    numbers = [int(digit) for digit in reversed(digits) if digit.isdigit()]
    doubled = [n * 2 - 9 if n > 4 else n * 2 for n in numbers[1::2]]
    return 13 <= len(numbers) <= 19 and len(set(numbers)) > 1 and (sum(numbers[::2]) + sum(doubled)) % 10 == 0


def cn_id(number: str) -> bool:
    """A mainland identity number: GB 11643 checksum."""
    digits = re.sub(r"[ -]", "", number).upper()
    if not re.fullmatch(r"\d{17}[\dX]", digits):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(d) * w for d, w in zip(digits, weights, strict=False)) % 11] == digits[17]


def _basic_pair(encoded: str) -> bool:
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _mixed(token: str) -> bool:
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


_WORDS = frozenset(
    re.findall(
        r"\w+",
        "null none nil true false undefined empty missing required invalid incorrect wrong expired unknown unset default "
        "denied failed failure rejected mismatch changed is was not must should cannot may has for and the of in from to "
        "string password passwd secret token redacted hidden masked yes no ok optional error authentication",
    )
)
_TEMPLATE = re.compile(r"[*•x.…]+$|\$\{|\$\(|\$[A-Z_]+$|\{\{|%[sdv]|<[a-z_ ]*>?$|\[REDACTED:", re.I)


def _value(value: str) -> bool:
    """A written-out value, not a word of a sentence, a mask or the name of a variable."""
    return len(value) >= 3 and value.strip("\"'.,;:!?()").lower() not in _WORDS and not _TEMPLATE.match(value)


def _password(value: str) -> bool:
    return _value(value) and not value.startswith(("/", "~/"))


def _opaque(value: str) -> bool:
    """Long and random enough to be a credential rather than the name of one (`secret: redis-creds`)."""
    if len(value) < 8 or not _value(value):
        return False
    if value.isdigit():
        return True
    mixed_case = value != value.lower() and value != value.upper()
    if any(c.isdigit() for c in value):
        return not re.fullmatch(r"[a-z]+(?:-[a-z0-9]+)+|[a-z]+\d?|v?\d+(?:\.\d+)+|[\d:.TZ+-]+", value)
    return len(value) >= 16 and mixed_case and not re.search(r"[./:]", value)


# ---------------------------------------------------------------- names of secret fields

_SEPARATOR = r"""\\?["']?[ \t]{0,8}(?:=>|:=|=|:|：|＝)[ \t]{0,24}"""
_PLAIN = r"""[^\s,;&"'<>()\[\]{}\\|]+"""
_VALUE = rf"""(?:\\?"((?:[^"\\\n]|\\[^"])+)\\?"|'([^'\n]+)'|(\[REDACTED:[^\]]*\]|{_PLAIN}))"""


def _field(kind: str, literals: str, names: str, accept: Callable[[str], bool], tail: str = "") -> Rule:
    """`name = value` in its usual writings. `names` is a pattern that begins at a literal, `tail` what may follow it
    inside the name."""
    pattern = rf"(?:{names}){tail}{_SEPARATOR}{_VALUE}"
    return Rule(kind, tuple(literals.split()), re.compile(pattern, re.I), accept)


def _after(prefixes: str, name: str) -> str:
    """The name where one of the prefixes stands before it, with or without a joint: api_key, api-key, apiKey."""
    return "|".join(f"(?<={prefix}){name}|(?<={prefix}[_-]){name}" for prefix in prefixes.split())


_HASH_TAIL = r"(?:[_-]?(?:hash|value|string|data|md5|sha1))?"
_KEYS = _after("api access secret private signing encryption", "key")
FIELD_RULES: tuple[Rule, ...] = (
    _field("aws-secret-key", "key", r"(?<=secret_access_)key|(?<=secret-access-)key|(?<=secretaccess)key", _value),
    _field("azure-key", "accountkey sharedaccesskey", "accountkey|sharedaccesskey", _value),
    _field(
        "password",
        "pass pwd 密码 口令",
        rf"password|passwd|passphrase|pwd|密码|口令|{_after('user db mysql redis smtp', 'pass')}",
        _password,
        _HASH_TAIL,
    ),
    _field("api-key", "key secret", rf"{_KEYS}|{_after('client', 'secret')}", _value, _HASH_TAIL),
    _field("secret", "secret credential token 密钥 令牌", "secret|credentials?|token|密钥|令牌", _opaque, _HASH_TAIL),
    _field("cookie", "sess connect.sid set-cookie", "sessid|sessionid|connect\\.sid|set-cookie", _opaque),
)

# ---------------------------------------------------------------- the table

_KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
KEY_BEGIN = re.compile(_KEY_BEGIN)
KEY_END = re.compile(_KEY_END)
_CARD_WORDS = 'card pan= pan: pan" cardno 卡号 银行卡 信用卡'
_ID_WORDS = "身份证 证件号 id_card idcard id-card identity id_no idno certno cert_no"

RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("-----begin",),
        re.compile(rf"({_KEY_BEGIN}(?:(?:(?!-----)[\s\S]){{0,20000}}{_KEY_END}|(?:[A-Za-z0-9+/=\s]|\\[rn])*))"),
    ),
    _token("aws-access-key", "akia asia", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    _token("gcp-api-key", "aiza", r"AIza[0-9A-Za-z_-]{35}"),
    _token("gcp-oauth", "ya29. gocspx-", r"ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,}"),
    Rule("azure-sas", ("sig=",), re.compile(r"(?<=[?&])sig=([A-Za-z0-9%+/=]{30,})")),
    _token("aliyun-access-key", "ltai", r"LTAI[0-9A-Za-z]{12,26}", _mixed),
    _token("tencent-secret-id", "akid", r"AKID[0-9A-Za-z]{32}"),
    _token(
        "slack-token",
        "xox xapp-",
        r"(?:xox[abeoprs](?:\.xox[bp])?|xapp)-[0-9A-Za-z-]{10,}",
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,})"),
    ),
    _token("github-token", "gh github_pat_", r"gh[pousr]_[0-9A-Za-z]{36,}|github_pat_\w{22,}"),
    _token("gitlab-token", "gl", r"gl(?:pat|ptt|dt|rt|cbt|ft|oas)-[\w-]{20,}"),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}", _mixed),
    _token(
        "openai-key",
        "sk-",
        r"sk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,}",
        lambda t: _mixed(t) and not re.fullmatch(r"[a-z]+(?:-[a-z0-9]{1,19})+", t),
    ),
    _token(
        "stripe-key",
        "sk_ rk_ pk_ whsec_",
        r"(?:[srp]k_(?:live|test)_|whsec_)[0-9A-Za-z]{10,}",
    ),
    _token("huggingface-token", "hf_", r"hf_[0-9A-Za-z]{30,}"),
    _token("npm-token", "npm_", r"npm_[0-9A-Za-z]{36}"),
    _token("pypi-token", "pypi-ageichlwas5vcmc", r"pypi-AgEIcHlwaS5vcmc[\w-]{50,}"),
    _token("sendgrid-key", "sg.", r"SG\.[\w-]{20,24}\.[\w-]{39,50}"),
    _token("vault-token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}"),
    _token("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("jwt", "eyj", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    Rule(
        "auth-header",
        ("authorization",),
        re.compile(
            r"""authorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?:(?:bearer|basic|token|apikey|digest|negotiate|aws4-hmac-sha256)\s+)?([^\s"'\\,;]{6,})""",
            re.I,
        ),
        lambda value: _value(value) and value.lower() not in ("bearer", "basic", "digest", "negotiate"),
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        re.compile(r"bearer\s+([A-Za-z0-9._~+/-]{8,}=*)", re.I),
        lambda t: _mixed(t) or len(t) >= 30,
    ),
    Rule(
        "basic-auth",
        ("basic",),
        re.compile(r"(?<![A-Za-z])basic\s+([A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/=])", re.I),
        _basic_pair,
    ),
    Rule(
        "url-password",
        ("://",),
        re.compile(r"""://[^\s:/@?#"'<>]{0,100}:([^\s/"'<>]{1,200})@"""),
        lambda v: not _TEMPLATE.match(v),
    ),
    Rule(
        "dsn-password",
        ("@tcp(", "@unix("),
        re.compile(r"""(?<![^\s"'=])[\w.-]{1,64}:([^\s"'/]{1,128})@(?:tcp|unix)\("""),
        scan=True,
    ),
    Rule(
        "password",
        ("--password ", "--passwd ", "--pass "),
        re.compile(r"""--pass(?:word|wd)? {1,4}["']?([^\s"'-][^\s"']*)"""),
        _password,
    ),
    Rule("password", ("identified by",), re.compile(r"""identified by(?: password)?\s{1,4}["']([^"']+)["']""", re.I)),
    Rule(
        "secret",
        ("--token ", "--api-key ", "--secret "),
        re.compile(r"""--(?:token|api-key|secret) {1,4}["']?([^\s"'-][^\s"']*)"""),
        _opaque,
    ),
    *FIELD_RULES,
    Rule(
        "card",
        tuple(_CARD_WORDS.split()),
        re.compile(
            r"""(?:card|pan["'=:]|卡号|银行卡|信用卡)[^\d\n]{0,24}?(?<![\d.])(\d(?:[ -]?\d){12,18})(?![\d.]*\d)""", re.I
        ),
        luhn,
    ),
    Rule(
        "card",
        (),
        re.compile(r"(\d(?<![\d.-]\d)\d{3}(?:([ -])\d{4}\2\d{4}\2\d{1,7}|([ -])\d{6}\3\d{5}))(?![\d-])"),
        luhn,
    ),
    Rule(
        "cn-id",
        tuple(_ID_WORDS.split()),
        re.compile(
            r"""(?:身份证|证件号|id[_-]?card|identity|id_?no|cert_?no)[^\d\n]{0,24}?(?<!\d)(\d{6}[ -]?\d{8}[ -]?\d{3}[\dXx])(?![0-9A-Za-z])""",
            re.I,
        ),
        cn_id,
    ),
    Rule("cn-id", (), re.compile(r"(\d(?<![\d-]\d)\d{5}([ -])\d{8}\2\d{3}[\dXx])(?![0-9A-Za-z-])"), cn_id),
)
