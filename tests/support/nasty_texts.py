"""What tools, people and models write, as hypothesis draws it."""

from hypothesis import strategies as st

NASTY = (
    "<!channel> look", "<!here|here>", "<@U012AB3CD>", "<!subteam^S1|@ops>", "<https://evil.example|https://good.example>",
    "[https://good.example](https://evil.example)", "```\ncode\n```", "~~~", "*bold* _it_ ~no~ `x`", "> quote", "a & b < c > d",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe", "مرحبا بالعالم", "שלום", "零宽\u200b空格\ufeff", "支付网关超时：ERR_TIMEOUT，请检查连接池。",
    "\N{FAMILY}👩\u200d💻🏳️\u200d🌈👍🏽", "\x1b[31mERROR\x1b[0m", "tab\tand\nline", "- item\n1. item\n# head", "", "   ", "e\u0301" * 20,
)  # fmt: skip
WORD = st.one_of(st.sampled_from(NASTY), st.text(max_size=12), st.just("order-service"))
SHORT = st.lists(WORD, max_size=6).map(" ".join)
LONG = st.tuples(SHORT, st.integers(1, 400), st.sampled_from((" ", "\n", "", ". ", "。"))).map(
    lambda parts: parts[2].join([parts[0] or "x"] * parts[1])[:4_000]
)
TEXT = st.one_of(SHORT, SHORT, SHORT, LONG)
