// A run's page while the run goes on: what changed is put in its place, and nothing that a person looks at, has
// selected or has half written moves.
import { restore } from "./chief.js";
import { streamWhileSeen } from "./live.js";
import { refresh } from "./graph.js";

const badge = document.getElementById("live");
const REST = 1000; // between two looks, so that a busy run doesn't keep the browser busy

// -- How it is followed ----------------------------------------------------------------------------------------------

let state = "";
let changed = badge ? Date.parse(badge.dataset.changed) : 0;

function age(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (minutes < 60) return `${minutes} min`;
  return hours < 24 ? `${hours} h ${String(minutes % 60).padStart(2, "0")} min` : `${days} d ${hours % 24} h`;
}

function tell() {
  const word = badge.dataset[`${state}Word`];
  if (!word) return;
  badge.className = `live live--${state}`;
  const text = word.replace("{age}", age(Date.now() - changed));
  const line = badge.querySelector("[data-live-text]");
  if (line.textContent !== text) line.textContent = text;
}

// -- Putting what is new in its place --------------------------------------------------------------------------------

const shown = new Map(); // what the server last said of each place: scripts change what stands there
for (const place of document.querySelectorAll("[data-live]")) remember(place);

function remember(place) {
  if (place.dataset.live === "rows") for (const row of place.querySelectorAll(":scope > [data-row]")) shown.set(`${place.id}|${row.dataset.row}`, row.outerHTML);
  else shown.set(place.id, place.innerHTML);
}

const isField = (el) => el?.matches?.("textarea, select, input:not([type=hidden])");

/** Whether a person is in the middle of something here. */
function isBusy(place) {
  const active = document.activeElement;
  if (isField(active) && place.contains(active)) return true;
  for (const field of place.querySelectorAll("textarea, input:not([type=hidden])")) if (field.value !== field.defaultValue) return true;
  const marked = getSelection();
  return !!marked && !marked.isCollapsed && place.contains(marked.anchorNode);
}

/** New content, old element: its scroll stays, and so do the focus and whatever was opened. */
function renew(place, next) {
  const opened = new Set([...place.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  const scroll = place.scrollTop;
  for (const { name, value } of next.attributes) if (name !== "open" && place.getAttribute(name) !== value) place.setAttribute(name, value);
  place.replaceChildren(...[...next.cloneNode(true).childNodes]);
  for (const summary of place.querySelectorAll("details > summary")) if (opened.has(summary.textContent)) summary.parentElement.open = true;
  if (active && active !== place) {
    const same = (el) => el.tagName === active.tagName && el.getAttribute("href") === active.getAttribute("href") && el.textContent === active.textContent;
    const again = active.id ? document.getElementById(active.id) : [...place.querySelectorAll(active.tagName)].find(same);
    again?.focus({ preventScroll: true });
  }
  place.scrollTop = scroll;
}

/** Their rows in their order. Ours that stay aren't touched: a row that is taken out and put back loses the focus. */
function arrange(place, rows, theirs) {
  const kept = new Set(theirs.map((row) => row.dataset.row));
  for (const [key, row] of rows) if (!kept.has(key)) row.remove();
  let last = null;
  for (const row of theirs) {
    const here = rows.get(row.dataset.row) || row.cloneNode(true);
    const there = last ? last.nextElementSibling : place.firstElementChild;
    if (there !== here) place.insertBefore(here, there);
    last = here;
  }
}

function renewRows(place, next) {
  const rows = new Map([...place.querySelectorAll(":scope > [data-row]")].map((row) => [row.dataset.row, row]));
  const theirs = [...next.querySelectorAll(":scope > [data-row]")];
  let news = 0;
  for (const row of theirs) {
    const mine = rows.get(row.dataset.row);
    if (!mine) { news += 1; continue; }
    const key = `${place.id}|${row.dataset.row}`;
    if (shown.get(key) === row.outerHTML) continue;
    if (isBusy(mine)) continue;
    shown.set(key, row.outerHTML);
    renew(mine, row);
  }
  const gone = rows.size > 0 && theirs.length > 0 && [...rows.keys()].some((key) => !theirs.some((row) => row.dataset.row === key));
  const note = document.querySelector(`[data-news-of="${place.id}"]`);
  if (!note) {
    if (rows.size === 0) place.replaceChildren(...[...next.cloneNode(true).childNodes]);
    else if (news || gone) arrange(place, rows, theirs);
    if (news || gone || rows.size === 0) remember(place);
    return;
  }
  note.hidden = !news && !gone;
  if (!note.hidden) note.querySelector("button").textContent = news ? note.dataset.new.replace("{n}", news) : note.dataset.gone;
}

function renewPanel(place, next, force) {
  if (place.dataset.where !== next.dataset.where && !force) return; // another step was chosen meanwhile
  if (shown.get(place.id) === next.innerHTML) return;
  const note = document.getElementById("panel-moved");
  if (!force && isBusy(place)) { if (note) note.hidden = false; return; }
  shown.set(place.id, next.innerHTML);
  renew(place, next);
  restore(place); // half-written text is kept by the browser
}

function put(page, { force = false } = {}) {
  for (const place of document.querySelectorAll("[data-live]")) {
    const next = page.getElementById(place.id);
    if (!next) continue;
    const kind = place.dataset.live;
    if (kind === "rows") renewRows(place, next);
    else if (kind === "panel") renewPanel(place, next, force);
    else if (shown.get(place.id) !== next.innerHTML) {
      if (kind === "graph") { const svg = next.querySelector("svg"); if (svg) refresh(svg.outerHTML); } else if (isBusy(place)) continue;
      else renew(place, next);
      shown.set(place.id, next.innerHTML);
    }
  }
  const theirs = page.getElementById("live");
  if (theirs && badge) changed = Math.max(changed, Date.parse(theirs.dataset.changed));
}

// After a refused form the address is the form's: what is looked at then has an address of its own.
const address = () => {
  const panel = document.getElementById("panel");
  if (!("refused" in document.body.dataset)) return location.href;
  return panel?.dataset.where ? `${badge.dataset.here}?step=${encodeURIComponent(panel.dataset.where)}` : badge.dataset.here;
};

let looking = false;
let again = null; // what to look for next

async function look(options = {}) {
  if (looking) { again = { ...again, ...options }; return; }
  looking = true;
  try {
    const asked = address();
    const answer = await fetch(asked, { credentials: "same-origin", cache: "no-store", headers: { Accept: "text/html" } });
    if (!answer.ok || new URL(answer.url).pathname !== new URL(asked, location.href).pathname) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (asked === address()) put(page, options); else again = { ...again, ...options };
    tell();
  } catch { /* the next change tries again */ } finally {
    setTimeout(() => { looking = false; if (again) { const next = again; again = null; look(next); } }, options.force ? 0 : REST);
  }
}

// -- What a person does ----------------------------------------------------------------------------------------------

const isPlain = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-show-panel]")) { look({ force: true }); return; }
  if (event.target.closest?.("[data-show-news]")) { location.reload(); return; }
  // A step without a box of its own in the drawing: the panel alone changes, the drawing stays.
  const link = event.target.closest?.("a[data-step]");
  const panel = document.getElementById("panel");
  if (!link || event.defaultPrevented || !isPlain(event) || !panel || !window.htmx || !link.closest("#panel, #outline")) return;
  event.preventDefault();
  const there = link.getAttribute("href").replace(/#.*/, "");
  history.pushState({}, "", there);
  window.htmx.ajax("GET", there, { target: "#panel", swap: "outerHTML" }).then(showPanel);
  for (const each of document.querySelectorAll("#outline a[data-step]")) {
    if (each === link) each.setAttribute("aria-current", "true"); else each.removeAttribute("aria-current");
  }
});

/** Where the panel stands below the drawing, choosing a step leads to it. */
function showPanel() {
  if (matchMedia("(max-width: 1023px)").matches) document.getElementById("panel")?.scrollIntoView({ block: "start" });
}
document.addEventListener("chief:selected", showPanel);

document.addEventListener("htmx:afterSettle", () => {
  const panel = document.getElementById("panel");
  if (panel) shown.set("panel", panel.innerHTML);
  if ("refused" in document.body.dataset && location.pathname === badge?.dataset.here) delete document.body.dataset.refused;
});

if (badge) {
  streamWhileSeen(badge.dataset.events, () => look(), (next) => { state = next; tell(); });
  setInterval(tell, 1000);
}
