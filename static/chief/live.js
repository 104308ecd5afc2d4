// Changes as they happen. `stream` follows an event stream of Chief's and, where none gets through, asks again and
// again; every page follows `/events` for the count of what waits. Nothing here moves what a person is looking at.

const QUIET = 20_000; // the server says something every 15 s at least
const POLL = 2_000;
const RETRY = 1_000;
const STREAM_AGAIN = 60_000;

/** `act`, never twice at once: asked for while it is at work, it begins once more when it is through. */
export function oneAtATime(act) {
  let working = false, again = false;
  return async () => {
    again = true;
    if (working) return;
    working = true;
    try { while (again) { again = false; await act(); } } finally { working = false; }
  };
}

// -- Following -------------------------------------------------------------------------------------------------------

/**
 * Follow `url` (`/v1/runs/r1/events?since=12`, `/events`) until `close()`.
 *
 * onEvent({ id, name, data }): each event, `data` read as JSON; `name` is "message", or "gone" for what was deleted.
 * onState(state): "live", "polling" (no stream gets through, asked every 2 s), "lost" (nothing gets through, tried
 * again), "ended" (gone, or signed out: not tried again).
 */
export function stream(url, onEvent, onState = () => {}) {
  let heard = "";
  let state = "";
  let failed = 0;
  let closed = false;
  let current = null;
  let timer = 0;
  let pollingSince = 0;
  const say = (next) => { if (next !== state && !closed) { state = next; onState(next); } };
  const later = (act, ms) => { clearTimeout(timer); if (!closed) timer = setTimeout(act, ms); };
  const end = () => { say("ended"); closed = true; clearTimeout(timer); current?.abort(); };

  function tell(block) {
    let id = "", name = "message", data = "";
    for (const line of block.split("\n")) {
      const [, field, value] = /^(\w+): ?(.*)$/.exec(line) || [];
      if (field === "id") id = value;
      else if (field === "event") name = value;
      else if (field === "data") data += value;
    }
    if (!data) return;
    if (id) heard = id;
    onEvent({ id, name, data: JSON.parse(data) });
    if (name === "gone") end();
  }

  async function read(address, began) {
    const mine = new AbortController();
    current = mine;
    let quiet = setTimeout(() => mine.abort(), QUIET);
    try {
      const headers = { Accept: "text/event-stream" };
      if (heard) headers["Last-Event-ID"] = heard;
      const answer = await fetch(address, { headers, signal: mine.signal, cache: "no-store", credentials: "same-origin" });
      if ([401, 403, 404].includes(answer.status)) { end(); return; }
      if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("text/event-stream")) throw new Error(`answered ${answer.status}`);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(quiet);
        quiet = setTimeout(() => mine.abort(), QUIET);
        began();
        const blocks = (text + value).split("\n\n");
        text = blocks.pop();
        for (const block of blocks) if (!closed) tell(block);
      }
    } finally {
      clearTimeout(quiet);
    }
  }

  async function follow() {
    try {
      await read(url, () => { failed = 0; say("live"); });
    } catch {
      if (closed) return;
      failed += 1;
      if (failed >= 2) { pollingSince = Date.now(); poll(); return; }
    }
    if (closed) return;
    if (state !== "") say("lost");
    later(follow, RETRY);
  }

  async function poll() {
    const address = new URL(url, location.href);
    address.searchParams.set("once", "true");
    try {
      await read(address, () => {});
      say("polling");
    } catch {
      say("lost");
    }
    if (Date.now() - pollingSince > STREAM_AGAIN) { failed = 1; later(follow, 0); } else later(poll, POLL);
  }

  follow();
  return { close() { closed = true; clearTimeout(timer); current?.abort(); } };
}

/** Follow `url` while this tab is seen: a browser opens six connections to a site, whatever the number of tabs. */
export function streamWhileSeen(url, onEvent, onState) {
  let heard = null;
  let open = null;
  const address = () => { const to = new URL(url, location.href); if (heard) to.searchParams.set("since", heard); return to.href; };
  const start = () => { open ??= stream(address(), (event) => { heard = event.id || heard; onEvent(event); }, onState); };
  const stop = () => { open?.close(); open = null; };
  const look = () => (document.hidden ? stop() : start());
  document.addEventListener("visibilitychange", look);
  look();
  return { close() { document.removeEventListener("visibilitychange", look); stop(); } };
}

// -- What changed anywhere -------------------------------------------------------------------------------------------

const listeners = new Set();
let newest = null;

/** Call `listener({ waiting })` after anything changed anywhere, once a second at most. Returns what ends it. */
export function onNews(listener) {
  listeners.add(listener);
  if (newest) listener(newest);
  return () => listeners.delete(listener);
}

function hear(data) {
  newest = data;
  for (const listener of listeners) listener(data);
}

function showCount({ waiting }) {
  const badge = document.getElementById("waiting-count");
  if (badge) {
    badge.dataset.count = waiting;
    badge.hidden = !waiting;
    const number = badge.querySelector("[data-n]");
    if (number) number.textContent = waiting;
  }
  document.title = (waiting ? `(${waiting}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  const icon = document.querySelector("link[rel=icon]");
  const wanted = waiting ? icon?.dataset.waiting.replace("0", waiting) : icon?.dataset.calm;
  if (wanted && icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
}

if (document.getElementById("waiting-count")) {
  onNews(showCount);
  if (navigator.locks && "BroadcastChannel" in window) {
    // One tab follows for all tabs of this browser; when it closes, another does.
    const channel = new BroadcastChannel("chief-news");
    channel.addEventListener("message", (event) => hear(event.data));
    navigator.locks.request("chief-news", () => new Promise((release) => {
      stream("/events", ({ data }) => { hear(data); channel.postMessage(data); }, (state) => { if (state === "ended") release(); });
    }));
  } else {
    streamWhileSeen("/events", ({ data }) => hear(data));
  }
}
