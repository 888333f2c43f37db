"""What the page asks of the loopback Slack: the state as JSON, changes as server-sent events, acts by POST.

GET  /                  the page itself (page/index.html); /page/static/NAME serves the other files of bot/emulator/slack/page
GET  /page/state        the whole state:
    {"revision": int, "team": {"id", "name"}, "bot": {"user_id", "bot_id", "name"},
     "users":    [{"id", "name", "real_name", "is_bot", "is_guest", "is_stranger", "tz", "locale"}],
     "channels": [{"id", "name", "kind": "channel|group|im|mpim", "is_archived", "bot_is_member", "user": other person of an im}],
     "messages": {CHANNEL: [message, …]}      roots and replies together, oldest first
     "statuses": [{"channel", "thread_ts", "status", "loading_messages"}]     the line under a thread while the bot works
     "sessions": [{"channel", "thread_ts", "status", "title"}]                status "processing" shows a Stop button
     "prompts":  [{"channel", "thread_ts", "title", "prompts": [{"title", "message"}]}]
     "views":    {USER: [view, …]}            open modals of a person, the last one on top
     "homes":    {USER: view}                 App Home
     "files":    [{"id", "name", "title", "mimetype", "size", "permalink", "content": text or null}]
     "shortcuts": [{"callback_id", "name"}], "commands": ["/proofthread"]}
    A message has Slack's fields: type, subtype, channel, ts, thread_ts, user, bot_id, username, text, blocks, attachments, files,
    metadata, reactions [{"name", "users", "count"}], edited, reply_count, reply_users, latest_reply, streaming_state
    (in_progress|completed|errored), ephemeral_to (user id: seen by that person alone).
    A streamed message's blocks are what it shows now: `plan` (tasks = task_card) or task_card blocks, `markdown` blocks, then the
    blocks of chat.stopStream. blocks posted with `markdown_text` are one `markdown` block.
    A view has Slack's fields: id, type, callback_id, title, submit, close, blocks, private_metadata, hash, state, errors
    ({block_id: text} after a refused submission).
GET  /page/events       server-sent events; each `data:` is one JSON object with "revision" and "kind":
    {"kind": "message", "channel", "message"}          posted, edited or streamed: put it in the place of the same ts (or add it)
    {"kind": "message_gone", "channel", "ts"}
    {"kind": "views", "user", "views": [view, …]}       the person's open modals now (an empty list closes)
    {"kind": "home", "user", "view"}
    {"kind": "status", "channel", "thread_ts", "status", "loading_messages"}     "" clears
    {"kind": "session", "channel", "thread_ts", "status", "title"}
    {"kind": "prompts", "channel", "thread_ts", "title", "prompts"}
    {"kind": "channel", "channel": channel} · {"kind": "user", "user": user}     new or changed
    {"kind": "notice", "user", "text"}                  what Slack would tell a person (an unanswered click, a refused form)
    The first event after connecting is {"kind": "hello"}; a page that reconnects reads /page/state again.
POST /page/act          JSON {"act": NAME, …}; answers {"ok": true, …} or {"ok": false, "error": text}:
    post     channel, user, text, thread_ts?, files? [{"name", "content"}]   → ts
    post_as_bot  channel, event (fields of a bot's message: text, attachments, blocks, username, bot_id, thread_ts)   → ts
    edit     channel, ts, user, text          delete   channel, ts, user
    react    channel, ts, user, name          unreact  channel, ts, user, name
    click    channel, ts, action_id, user, value?, block_id?        a button of a message; value also picks a select's option or user
    click_view  view_id, action_id, user, value?                    a button inside a modal or App Home
    submit   view_id, user, values {action_id or block_id: value}
    close    view_id, user                    shortcut callback_id, channel, ts, user
    slash    command, text, channel, user     open_home user, tab? ("home" or "messages")
    open_dm  user   → channel                 stop     channel, thread_ts, user
    prompt   channel, user, message, thread_ts?                      a suggested prompt: the same as post
"""
