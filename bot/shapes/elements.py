"""Texts, buttons, selects, inputs and rich text: what blocks are made of."""

from __future__ import annotations

from collections.abc import Mapping

from bot.shapes.rules import (
    Rule,
    boolean,
    choice,
    listed,
    mapping,
    number,
    one_of,
    shape,
    string,
    typed,
)

URL = string(3000, pattern=r"(https?|mailto|tel|slack):\S+")
ACTION_ID = string(255)
STYLE = choice("primary", "danger")


def plain(high: int, low: int = 1) -> Rule:
    return shape({"type": choice("plain_text"), "text": string(high, low=low)}, {"emoji": boolean})


def mrkdwn(high: int, low: int = 1) -> Rule:
    return shape({"type": choice("mrkdwn"), "text": string(high, low=low)}, {"verbatim": boolean})


def text(high: int, low: int = 1) -> Rule:
    return typed({"plain_text": plain(high, low), "mrkdwn": mrkdwn(high, low)}, "text")


def url_source() -> Rule:
    return shape({"type": choice("url"), "url": URL, "text": string()})


# ---------------------------------------------------------------- parts of elements

CONFIRM = shape({"text": text(300)}, {"title": plain(100), "confirm": plain(30), "deny": plain(30), "style": STYLE})
PLAIN_OPTION = shape(
    {"text": plain(75)},
    {"value": string(150), "description": plain(75), "url": URL},
)
ANY_OPTION = shape({"text": text(75)}, {"value": string(150), "description": text(75), "url": URL})
OPTION_GROUP = shape({"label": plain(75), "options": listed(PLAIN_OPTION, 1, 100)})
SLACK_FILE = shape({}, {"id": string(), "url": string()}, one_of("id", "url"))
DISPATCH = shape({}, {"trigger_actions_on": listed(choice("on_enter_pressed", "on_character_entered"), 1, 2)})
FILTER = shape(
    {},
    {
        "include": listed(choice("im", "mpim", "private", "public"), 1),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)


def _element(
    kind: str, required: Mapping[str, Rule] | None = None, optional: Mapping[str, Rule] | None = None, *also: Rule
) -> Rule:
    return shape({"type": choice(kind)} | dict(required or {}), {"action_id": ACTION_ID} | dict(optional or {}), *also)


_ASKING = {"confirm": CONFIRM}
_PICKING = _ASKING | {"placeholder": plain(150), "focus_on_load": boolean}
_TYPING = {"placeholder": plain(150), "focus_on_load": boolean, "dispatch_action_config": DISPATCH}
_MANY = _PICKING | {"max_selected_items": number(1)}
_CHOICES = {"options": listed(PLAIN_OPTION, 1, 100), "option_groups": listed(OPTION_GROUP, 1, 100)}
_TALKS = {"default_to_current_conversation": boolean, "filter": FILTER}
_REPLIES = {"response_url_enabled": boolean}

# ---------------------------------------------------------------- elements

BUTTON = _element(
    "button",
    {"text": plain(75)},
    _ASKING | {"url": URL, "value": string(2000), "style": STYLE, "accessibility_label": string(75)},
)
_VOTE = shape({"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)})
FEEDBACK_BUTTONS = _element("feedback_buttons", {"positive_button": _VOTE, "negative_button": _VOTE})
ICON_BUTTON = _element(
    "icon_button",
    # "trash" is the only icon that is documented.
    {"icon": choice("trash"), "text": plain(75)},
    _ASKING
    | {"value": string(2000), "accessibility_label": string(75), "visible_to_user_ids": listed(string(), 1, 10)},
)
IMAGE = shape(
    {"type": choice("image"), "alt_text": string(2000)},
    {"image_url": URL, "slack_file": SLACK_FILE},
    one_of("image_url", "slack_file"),
)

SELECTS: dict[str, Rule] = {
    "static_select": _element(
        "static_select",
        None,
        _PICKING | _CHOICES | {"initial_option": PLAIN_OPTION},
        one_of("options", "option_groups"),
    ),
    "external_select": _element(
        "external_select", None, _PICKING | {"initial_option": PLAIN_OPTION, "min_query_length": number(0)}
    ),
    "users_select": _element("users_select", None, _PICKING | {"initial_user": string()}),
    "conversations_select": _element(
        "conversations_select", None, _PICKING | _TALKS | _REPLIES | {"initial_conversation": string()}
    ),
    "channels_select": _element("channels_select", None, _PICKING | _REPLIES | {"initial_channel": string()}),
    "multi_static_select": _element(
        "multi_static_select",
        None,
        _MANY | _CHOICES | {"initial_options": listed(PLAIN_OPTION)},
        one_of("options", "option_groups"),
    ),
    "multi_external_select": _element(
        "multi_external_select", None, _MANY | {"initial_options": listed(PLAIN_OPTION), "min_query_length": number(0)}
    ),
    "multi_users_select": _element("multi_users_select", None, _MANY | {"initial_users": listed(string())}),
    "multi_conversations_select": _element(
        "multi_conversations_select", None, _MANY | _TALKS | {"initial_conversations": listed(string())}
    ),
    "multi_channels_select": _element("multi_channels_select", None, _MANY | {"initial_channels": listed(string())}),
}

_FOCUS = _ASKING | {"focus_on_load": boolean}
CHECKS: dict[str, Rule] = {
    "checkboxes": _element(
        "checkboxes", {"options": listed(ANY_OPTION, 1, 10)}, _FOCUS | {"initial_options": listed(ANY_OPTION, 1, 10)}
    ),
    "radio_buttons": _element(
        "radio_buttons", {"options": listed(ANY_OPTION, 1, 10)}, _FOCUS | {"initial_option": ANY_OPTION}
    ),
}
TIMES: dict[str, Rule] = {
    "datepicker": _element("datepicker", None, _PICKING | {"initial_date": string(pattern=r"\d{4}-\d\d-\d\d")}),
    "timepicker": _element(
        "timepicker", None, _PICKING | {"initial_time": string(pattern=r"\d\d:\d\d"), "timezone": string()}
    ),
    "datetimepicker": _element("datetimepicker", None, _FOCUS | {"initial_date_time": number(0)}),
}
OVERFLOW: dict[str, Rule] = {"overflow": _element("overflow", {"options": listed(PLAIN_OPTION, 1, 5)}, _ASKING)}
WORKFLOW: dict[str, Rule] = {
    "workflow_button": _element(
        "workflow_button",
        {"text": plain(75), "workflow": mapping},
        _ASKING | {"style": STYLE, "accessibility_label": string(75)},
    )
}
INPUTS: dict[str, Rule] = {
    "plain_text_input": _element(
        "plain_text_input",
        None,
        _TYPING
        | {
            "initial_value": string(3000, low=0),
            "multiline": boolean,
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
        },
    ),
    "email_text_input": _element("email_text_input", None, _TYPING | {"initial_value": string(low=0)}),
    "url_text_input": _element("url_text_input", None, _TYPING | {"initial_value": string(low=0)}),
    "number_input": _element(
        "number_input",
        {"is_decimal_allowed": boolean},
        _TYPING | {"initial_value": string(), "min_value": string(), "max_value": string()},
    ),
    "file_input": _element("file_input", None, {"filetypes": listed(string(), 1), "max_files": number(1, 10)}),
    "rich_text_input": _element(
        "rich_text_input",
        None,
        _TYPING | {"initial_value": mapping, "min_lines": number(1, 100), "max_lines": number(1, 100)},
    ),
}

# ---------------------------------------------------------------- rich text

_FACE = shape({}, {name: boolean for name in ("bold", "italic", "strike", "code", "underline")})


def _span(kind: str, required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None) -> Rule:
    return shape({"type": choice(kind)} | dict(required), {"style": _FACE} | dict(optional or {}))


SPANS: dict[str, Rule] = {
    # Blanks between two spans are text as well; only the empty string is refused.
    "text": _span("text", {"text": string(low=0, pattern=r"(?s).+")}),
    "link": _span("link", {"url": URL}, {"text": string(), "unsafe": boolean}),
    "emoji": _span("emoji", {"name": string()}, {"unicode": string(), "url": string()}),
    "user": _span("user", {"user_id": string()}),
    "usergroup": _span("usergroup", {"usergroup_id": string()}),
    "team": _span("team", {"team_id": string()}),
    "channel": _span("channel", {"channel_id": string()}),
    "broadcast": _span("broadcast", {"range": choice("here", "channel", "everyone")}),
    "color": _span("color", {"value": string()}),
    "date": _span("date", {"timestamp": number(), "format": string()}, {"url": string(), "fallback": string()}),
}
_SPANS = listed(typed(SPANS, "rich text element"), 1)
_BORDER = {"border": choice(0, 1)}
_SECTION = shape({"type": choice("rich_text_section"), "elements": _SPANS})
RICH_PARTS: dict[str, Rule] = {
    "rich_text_section": _SECTION,
    "rich_text_quote": shape({"type": choice("rich_text_quote"), "elements": _SPANS}, _BORDER),
    "rich_text_preformatted": shape(
        {
            "type": choice("rich_text_preformatted"),
            "elements": listed(typed({kind: SPANS[kind] for kind in ("text", "link")}, "preformatted text"), 1),
        },
        _BORDER,
    ),
    "rich_text_list": shape(
        {
            "type": choice("rich_text_list"),
            "style": choice("bullet", "ordered"),
            "elements": listed(typed({"rich_text_section": _SECTION}, "list item"), 1),
        },
        _BORDER | {"indent": number(0, 8)},
    ),
}
RICH_TEXT = shape(
    {"type": choice("rich_text"), "elements": listed(typed(RICH_PARTS, "rich text"), 1)}, {"block_id": string(255)}
)
