// The page's copy of the loopback workspace, kept up to date by server-sent events. page_api.py says the shapes.

const listeners = new Set();

export const state = {
  revision: 0, team: { name: "" }, bot: {}, users: new Map(), channels: new Map(), messages: new Map(),
  statuses: new Map(), sessions: new Map(), prompts: new Map(), views: {}, homes: {}, files: new Map(),
  shortcuts: [], commands: [],
};

export const threadKey = (channel, ts) => `${channel}/${ts}`;

// Calls back with each change: {kind, …}; "all" after everything was read anew.
export function listen(listener) {
  listeners.add(listener);
}

export async function act(name, fields) {
  try {
    const answer = await fetch("/page/act", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ act: name, ...fields }),
    });
    return await answer.json();
  } catch {
    return { ok: false, error: "the loopback Slack does not answer" };
  }
}

export async function fileText(id) {
  const known = state.files.get(id);
  if (known) return known.content;
  const answer = await fetch(`/page/file/${encodeURIComponent(id)}`);
  const isText = answer.ok && (answer.headers.get("Content-Type") || "").startsWith("text/");
  const content = isText ? await answer.text() : null;
  state.files.set(id, { id, content });
  return content;
}

// Follows the workspace while the page is seen. A browser keeps six connections to a server: a page in the background,
// or kept for "back", must not hold one.
export function follow(onLine) {
  let events = null;
  const turn = (on) => {
    if (on && events === null) events = connected(onLine);
    if (!on && events !== null) {
      events.close();
      events = null;
    }
  };
  document.addEventListener("visibilitychange", () => turn(!document.hidden));
  window.addEventListener("pagehide", () => turn(false));
  window.addEventListener("pageshow", () => turn(true));
  turn(true);
}

// Events are kept back while the state is read, so that none is lost and none is applied twice.
function connected(onLine) {
  let held = null;
  const events = new EventSource("/page/events");
  events.onmessage = async ({ data }) => {
    const change = JSON.parse(data);
    if (change.kind !== "hello") {
      held === null ? take(change) : held.push(change);
      return;
    }
    held = [];
    try {
      read(await (await fetch("/page/state")).json());
    } catch {
      held = null;
      return;
    }
    const later = held;
    held = null;
    onLine(true);
    tell({ kind: "all" });
    later.forEach(take);
  };
  events.onerror = () => onLine(false);
  return events;
}

// What an app installed after the page was opened: its commands and shortcuts.
export async function refreshed() {
  const whole = await (await fetch("/page/state")).json();
  state.shortcuts = whole.shortcuts;
  state.commands = whole.commands;
}

function read(whole) {
  Object.assign(state, {
    revision: whole.revision, team: whole.team, bot: whole.bot, views: whole.views, homes: whole.homes,
    shortcuts: whole.shortcuts, commands: whole.commands,
  });
  state.users = byId(whole.users);
  state.channels = byId(whole.channels);
  state.files = byId(whole.files);
  state.messages = new Map(Object.entries(whole.messages).map(([channel, list]) => [channel, byTs(list)]));
  for (const name of ["statuses", "sessions", "prompts"]) {
    state[name] = new Map(whole[name].map((each) => [threadKey(each.channel, each.thread_ts), each]));
  }
}

const byId = (list) => new Map(list.map((each) => [each.id, each]));
const byTs = (list) => new Map(list.map((each) => [each.ts, each]));

function take(change) {
  if (change.revision <= state.revision) return;
  state.revision = change.revision;
  const keep = KEEP[change.kind];
  if (change.kind === "message") change.isNew = !messagesOf(change.channel).has(change.message.ts);
  if (keep) keep(change);
  tell(change);
}

const KEEP = {
  message: ({ channel, message }) => messagesOf(channel).set(message.ts, message),
  message_gone: ({ channel, ts }) => messagesOf(channel).delete(ts),
  views: ({ user, views }) => (state.views[user] = views),
  home: ({ user, view }) => (state.homes[user] = view),
  status: (change) => state.statuses.set(threadKey(change.channel, change.thread_ts), change),
  session: (change) => state.sessions.set(threadKey(change.channel, change.thread_ts), change),
  prompts: (change) => state.prompts.set(threadKey(change.channel, change.thread_ts), change),
  channel: ({ channel }) => state.channels.set(channel.id, channel),
  user: ({ user }) => state.users.set(user.id, user),
};

const tell = (change) => listeners.forEach((listener) => listener(change));

export function messagesOf(channel) {
  if (!state.messages.has(channel)) state.messages.set(channel, new Map());
  return state.messages.get(channel);
}

const isRoot = (message) => !message.thread_ts || message.thread_ts === message.ts;
const inOrder = (found) => [...found].sort((one, other) => Number(one.ts) - Number(other.ts));
const seenBy = (user) => (message) => !message.ephemeral_to || message.ephemeral_to === user;

export function rootsOf(channel, user) {
  const shown = [...messagesOf(channel).values()].filter(seenBy(user));
  return inOrder(shown.filter((message) => isRoot(message) || message.subtype === "thread_broadcast"));
}

export function threadOf(channel, ts, user) {
  const shown = [...messagesOf(channel).values()].filter(seenBy(user));
  return inOrder(shown.filter((message) => message.ts === ts || message.thread_ts === ts));
}
