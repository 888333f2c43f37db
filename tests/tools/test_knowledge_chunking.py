"""Chunks are verbatim slices with the path of their headings; code and tables stay whole."""

from hypothesis import given
from hypothesis import strategies as st

from tools.chunking import HARD_LIMIT, LIMIT, chunk_markdown, first_heading

LONG = "The pool is exhausted when every connection is checked out. " * 3
RUNBOOK = f"""# Pool exhausted

{LONG}

## Check

{LONG}

```bash
# not a heading
curl http://checkout/health
```

| code | meaning |
|------|---------|
| 42   | full    |

## Empty

## Fix
{LONG}
"""


def breadcrumbs(body: str) -> list[str]:
    return [chunk.breadcrumb for chunk in chunk_markdown(body)]


def test_each_section_is_a_chunk_under_its_headings() -> None:
    assert breadcrumbs(RUNBOOK) == [
        "Pool exhausted",
        "Pool exhausted > Check",
        "Pool exhausted",
    ]


def test_a_heading_without_text_stays_findable() -> None:
    assert "## Empty" in chunk_markdown(RUNBOOK)[2].text


def test_a_comment_in_code_is_no_heading() -> None:
    code = "```\n# not a heading\n```\n"
    assert first_heading(code) is None
    assert first_heading(code + "# Real") == "Real"


def test_a_short_section_joins_the_next_one() -> None:
    chunks = chunk_markdown("# A\n\n## One\nShort.\n\n## Two\nAlso short.\n")
    assert [(chunk.breadcrumb, chunk.text) for chunk in chunks] == [("A", "Short.\n\n## Two\nAlso short.")]


def test_sections_of_different_documents_parts_are_not_joined() -> None:
    assert breadcrumbs("# A\nShort.\n\n# B\nShort too.\n") == ["A", "B"]


def test_code_longer_than_a_chunk_stays_whole() -> None:
    code = "```\n" + "kubectl get pods\n" * (LIMIT // 10) + "```"
    assert [chunk.text for chunk in chunk_markdown(f"# A\n\n{LONG}\n\n{code}\n")] == [LONG.strip(), code]


def test_a_table_longer_than_a_chunk_stays_whole() -> None:
    table = "| code | meaning |\n|---|---|\n" + "| ERR_42 | the pool is full |\n" * 40
    assert [chunk.text for chunk in chunk_markdown(f"# A\n\n{LONG}\n\n{table}")] == [LONG.strip(), table.strip()]


def test_code_beyond_the_hard_limit_is_cut_at_line_ends() -> None:
    line = "x" * 99 + "\n"
    chunks = chunk_markdown("```\n" + line * 100 + "```\n")
    assert len(chunks) == 3
    assert all(set(chunk.text.splitlines()) <= {"```", line.strip()} for chunk in chunks)


def test_long_chinese_prose_is_cut_between_sentences() -> None:
    sentence = "连接池耗尽时所有请求都会超时，需要先看活跃连接数。"
    chunks = chunk_markdown(sentence * 60)
    assert len(chunks) > 2
    assert all(chunk.text.endswith("。") and len(chunk.text) <= LIMIT for chunk in chunks)


@given(st.text(alphabet=st.sampled_from("a #`\n|-。x~. "), max_size=3000))
def test_chunks_are_slices_in_order_and_lose_no_word(body: str) -> None:
    place = 0
    for chunk in chunk_markdown(body):
        found = body.find(chunk.text, place)
        assert found >= 0
        assert len(chunk.text) <= HARD_LIMIT
        place = found + len(chunk.text)


@given(st.lists(st.sampled_from(["word one", "- item two", "", "| a | b |", "```", "第三句。"]), max_size=40))
def test_every_line_of_text_is_in_some_chunk(lines: list[str]) -> None:
    kept = "\n".join(chunk.text for chunk in chunk_markdown("\n".join(lines)))
    assert all(line in kept for line in lines if line.strip())
