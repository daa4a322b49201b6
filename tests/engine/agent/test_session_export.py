"""A session as HTML or Markdown in one file, and as a context block for another agent."""

import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.agent.session_export import export_session, readable_session, session_context
from engine.records import EXPORT_FORMATS, ModelUsage, SessionText, UsageTotal
from engine.settings.options import MIN_CONTEXT
from tests.helpers.fake_sessions import leave, make_session

TURNS = [
    ("user", [("text", "Why does the sail tear? It is new.")]),
    (
        "assistant",
        [
            ("thinking", "Look at the seam."),
            ("tool-call", '{"old_string": "1", "file_path": "src/seam.py"}', "Edit"),
            ("tool-result", "done </pre><b>", "Edit"),
            ("text", "The `seam` is weak:\n\n```py\nwidth = 1 < 2\n```\nSew it again."),
        ],
    ),
    ("user", [("text", "Use a double seam. Not glue.")]),
    ("assistant", [("tool-call", "docs/knots.md", "Read"), ("text", "Sewn twice.")]),
    ("user", [("text", "And the mast?")]),
    ("assistant", [("text", "It holds.")]),
]


def sails(**more) -> SessionText:
    return make_session(TURNS, title="Sail <repair>", project="/home/ada/boat", **more)


class _Page(HTMLParser):
    """Collects tags, targets and links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids |= {given["id"]} if given.get("id") else set()
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_file_with_a_contents_list_and_folded_tools():
    text = export_session(sails(), "html")
    page = _Page(text)
    assert page.open == []
    assert page.links == ["#m1", "#m3", "#m5"]
    assert {link[1:] for link in page.links} <= page.ids
    assert page.tags.count("details") == 3  # thinking, and each tool with its result
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "default-src 'none'" in text
    assert "<h1>Sail &lt;repair&gt;</h1>" in text
    assert "done &lt;/pre&gt;&lt;b&gt;" in text
    assert "The <code>seam</code> is weak" in text
    assert "<pre>width = 1 &lt; 2</pre>" in text


def test_markdown_has_a_contents_list_and_folded_tools():
    text = export_session(sails(), "markdown")
    assert text.startswith("# Sail \\<repair\\>\n")
    assert re.findall(r"^\d+\. \[(.*)\]\(#(m\d+)\)$", text, re.MULTILINE) == [
        ("Why does the sail tear?", "m1"),
        ("Use a double seam.", "m3"),
        ("And the mast?", "m5"),
    ]
    assert '<a id="m3"></a>' in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert "<summary>[Edit] src/seam.py</summary>" in text
    assert "```py\nwidth = 1 < 2\n```" in text


def test_exported_abandoned_branches_are_folded_and_marked():
    session = leave(sails(), 3, 4)
    text = export_session(session, "html")
    page = _Page(text)
    assert page.open == []
    assert ">Use a double seam. (abandoned branch)</a>" in text
    assert ">And the mast?</a>" in text
    before, branch, after = re.split(
        r"<details>\n<summary>Abandoned branch: 2 messages</summary>\n|</details>\n(?=<h2)", text
    )[-3:]
    assert "Sewn twice." in branch
    assert "Sew it again." in before
    assert "It holds." in after
    page_text = export_session(session, "markdown")
    assert "2. [Use a double seam. (abandoned branch)](#m3)\n3. [And the mast?](#m5)" in page_text
    assert page_text.count("<details>") == page_text.count("</details>") == 4
    assert '\n<details>\n<summary>Abandoned branch: 2 messages</summary>\n\n<a id="m3"></a>' in page_text


def test_result_with_fence_is_fenced_longer():
    session = make_session([("assistant", [("tool-call", "ls", "Bash"), ("tool-result", "````\nx\n````", "Bash")])])
    assert "`````\n````\nx\n````\n`````" in export_session(session, "markdown")


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_export_names_models_tokens_and_cost(format):
    session = sails()
    usage = (ModelUsage(model="claude-opus-4-5", input_tokens=5, output_tokens=7),)
    spent = UsageTotal(input_tokens=5, output_tokens=7, cache_read_tokens=1000, cost=1.5)
    summary = msgspec.structs.replace(session.summary, usage=usage, total_usage=spent)
    made = msgspec.structs.replace(session, summary=summary, masked=2)
    text = export_session(made, format)
    assert "claude-opus-4-5 · 1,005 tokens in · 7 tokens out · $1.50" in text
    assert "Secrets are masked in 2 messages." in text
    assert "tokens" not in export_session(session, format)


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_empty_session_has_a_title_only(format):
    text = export_session(make_session([], title=""), format)
    assert "Untitled session" in text
    assert "Contents" not in text


@given(st.lists(st.tuples(st.sampled_from(["text", "thinking", "tool-call", "tool-result"]), st.text(max_size=60))))
def test_any_text_makes_a_well_formed_page(parts):
    session = make_session([("assistant", [(kind, text, "T") for kind, text in parts])])
    assert _Page(export_session(session, "html")).open == []
    export_session(session, "markdown").encode("utf-8", "replace")


# --- context block -----------------------------------------------------------------------------------------------


def test_context_has_goal_decisions_files_and_last_state():
    context = session_context(sails(branch="fix/sail"), 4000)
    assert context.splitlines()[0] == "Continue this session of Claude Code in /home/ada/boat on branch fix/sail."
    assert "## Goal\nWhy does the sail tear? It is new." in context
    assert "newest first\n- Use a double seam." in context
    assert "## Files\n- src/seam.py (changed)\n- docs/knots.md (read)" in context
    assert "## Last request\nAnd the mast?" in context
    assert "## Last answer\nIt holds." in context


def test_context_shows_the_question_of_a_short_answer():
    turns = [
        ("user", [("text", "Repair the sail.")]),
        ("assistant", [("text", "It is torn. **Shall I sew it?**\n- Yes\n- No")]),
        ("user", [("text", "Yes")]),
        ("assistant", [("text", "Which thread?")]),
        (
            "user",
            [
                (
                    "text",
                    "Waxed thread, since it has to hold in salt water. Not glue, which would "
                    + "melt " * 30
                    + "in salt.",
                )
            ],
        ),
        ("assistant", [("text", "Sewn. Is a tar coat wanted?"), ("tool-call", "src/seam.py", "Read")]),
        ("user", [("text", "No")]),
    ]
    context = session_context(make_session(turns), 4000)
    assert "newest first\n- Waxed thread, since it has to hold in salt water. Not glue, which would melt" in context
    assert "…\n- Shall I sew it? – Yes\n" in context
    assert "## Last request\nIs a tar coat wanted? – No\n" in context


def test_context_lists_each_answer_and_accepted_plans():
    turns = [
        ("user", [("text", "Repair the sail.")]),
        ("assistant", [("text", "Which thread?\n- Red\n- Blue\n\nWhen?\n- Now")]),
        ("user", [("text", "Which thread? Red\nWhen? Now")]),
        ("assistant", [("text", "# Burn the boat"), ("tool-result", "Rejected.", "ExitPlanMode")]),
        ("assistant", [("text", "# Sew it\n\n1. Cut\n2. Sew"), ("tool-result", "Approved.", "ExitPlanMode")]),
        ("user", [("text", "And the mast?")]),
    ]
    session = make_session(turns)
    changes = [{}, {"call": 1}, {}, {"call": 2}, {"call": 2, "failed": True}, {"call": 3}, {"call": 3}, {}]
    messages = tuple(
        msgspec.structs.replace(message, **change) for message, change in zip(session.messages, changes, strict=True)
    )
    context = session_context(msgspec.structs.replace(session, messages=messages), 4000)
    assert "newest first\n- Accepted plan: Sew it 1. Cut 2. Sew\n- Which thread? – Red\n- When? – Now\n\n" in context
    assert "Burn" not in context


def test_context_keeps_attachments_with_the_request():
    turns = [
        ("user", [("text", "Repair the sail.")]),
        ("assistant", [("text", "Sewn.")]),
        ("user", [("text", "[image: sail.png]")]),
        ("assistant", [("text", "I see.")]),
        ("user", [("text", "Compare it with the plan."), ("text", "[file: plan.md]")]),
    ]
    context = session_context(make_session(turns), 4000)
    assert "## Last request\nCompare it with the plan.\n[file: plan.md]\n" in context
    assert "newest first" not in context


def test_context_excludes_abandoned_branches():
    context = session_context(leave(sails(), 1, 2, 5, 6), 4000)
    assert "## Goal\nUse a double seam. Not glue." in context
    assert "## Last answer\nSewn twice." in context
    assert "## Files\n- docs/knots.md (read)" in context
    assert "seam.py" not in context
    assert "mast" not in context


def test_context_lists_files_of_patches():
    patch = "*** Begin Patch\n*** Update File: a/b.py\n@@\n*** End Patch"
    session = make_session([("assistant", [("tool-call", patch, "apply_patch")])])
    assert "- a/b.py (changed)" in session_context(session, 2000)


@pytest.mark.parametrize("limit", [1, 500, 700, 2000, 50_000])
def test_context_never_exceeds_the_limit(limit):
    long = [("user", [("text", f"Question {n}. " * 300)]) for n in range(30)]
    answers = [
        ("assistant", [("tool-call", f"src/file{n}.py", "Read"), ("text", "Answer. " * 3000)]) for n in range(30)
    ]
    turns = [turn for pair in zip(long, answers, strict=True) for turn in pair]
    context = session_context(make_session(turns, title="t" * 900, project="/p" * 600), limit)
    assert len(context) <= max(limit, MIN_CONTEXT)
    for section in ("## Goal", "## Last request", "## Last answer"):
        assert section in context


@given(st.integers(MIN_CONTEXT, 1500))
@example(503)
def test_context_of_many_short_requests_fits_its_limit(limit):
    session = make_session([("user", [("text", f"Caulk seam {n}.")]) for n in range(200)])
    assert len(session_context(session, limit)) <= limit


def test_context_uses_the_characters_that_other_parts_leave():
    answer = "It is tight. " + "Caulk every seam. " * 200
    turns = [("user", [("text", "Fix the leak.")]), ("assistant", [("text", answer)])]
    assert answer.strip() in session_context(make_session(turns), 8000)
    assert len(session_context(make_session(turns), 2000)) in range(1990, 2001)


def test_context_of_empty_session_is_its_heading():
    assert session_context(make_session([], title="Empty"), 1000).endswith("Title: Empty\n")


def test_replaced_text_is_exported_as_a_diff() -> None:
    call = ("tool-call", '{"file_path": "a.py", "old_string": "x <1\\ny", "new_string": "x <2\\ny"}', "Edit")
    session = make_session([("assistant", [call, ("tool-result", "\x1b[32mdone\x1b[0m", "Edit")])])
    page = export_session(session, "html")
    assert "<pre>a.py\n<del>-x &lt;1</del>\n<ins>+x &lt;2</ins>\n y</pre>\n<pre>done</pre>" in page
    assert "```diff\na.py\n-x <1\n+x <2\n y\n```\n\n```\ndone\n```" in export_session(session, "markdown")
    assert "\n[Edit]\na.py\n-x <1\n+x <2\n y" in readable_session(session, full=True)


def test_only_the_last_calls_without_a_result_wait_for_one() -> None:
    calls = [("assistant", [("tool-call", f"step-{number}", "Bash")]) for number in range(100)]
    results = [("tool", [("tool-result", text, "Bash")]) for text in ("of the first", "of the last")]
    session = make_session([*calls, ("user", [("text", "Go on.")]), *results])
    numbers = [*range(1, 101), 0, 1, 100]
    numbered = tuple(
        msgspec.structs.replace(message, call=call) for message, call in zip(session.messages, numbers, strict=True)
    )
    text = "\n".join(readable_session(msgspec.structs.replace(session, messages=numbered), full=False))
    assert "step-99 → " in text
    assert "step-0 → " not in text
