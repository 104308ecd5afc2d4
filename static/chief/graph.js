// The graph, once it is drawn: select without leaving, zoom, find, and new states in place. Every box is a link, and the
// page works without any of this.
import { said, inField } from "./chief.js";

const graph = () => document.querySelector("svg.graph");
const scroller = () => graph()?.closest(".canvas-scroll");
const boxes = () => [...document.querySelectorAll("svg.graph a[data-id]")];
const boxOf = (id) => boxes().find((each) => each.dataset.id === id) || null;
const isPlain = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

// -- Selection -------------------------------------------------------------------------------------------------------

let selected = null;

/** Mark a box and light what comes before and after it, here and around the containers that it is in. Of one that is
 *  only named in a box, that box is marked with it. */
function mark(id) {
  selected = id;
  const named = id !== null && boxOf(id);
  const holder = named && named.classList.contains("g-named") ? named.dataset.in : null;
  for (const each of boxes()) {
    const on = each.dataset.id === id;
    each.classList.toggle("is-selected", on || each.dataset.id === holder);
    if (on) each.setAttribute("aria-current", "true"); else each.removeAttribute("aria-current");
  }
  light();
}

function light() {
  const edges = [...document.querySelectorAll("svg.graph .g-e")];
  const back = new Map(), on = new Map();
  const add = (map, key, edge) => { if (!map.has(key)) map.set(key, []); map.get(key).push(edge); };
  for (const edge of edges) if (edge.dataset.from) { add(on, edge.dataset.from, edge); add(back, edge.dataset.to, edge); }
  const lit = new Set();
  const walk = (start, map, end) => {
    const seen = new Set([start]), frontier = [start];
    while (frontier.length) {
      for (const edge of map.get(frontier.pop()) || []) {
        lit.add(edge);
        const other = edge.dataset[end];
        if (!seen.has(other)) { seen.add(other); frontier.push(other); }
      }
    }
  };
  const holder = (id) => boxOf(id) || [...document.querySelectorAll("svg.graph g[data-id]")].find((each) => each.dataset.id === id) || null;
  let here = selected === null ? null : boxOf(selected);
  const loop = here?.dataset.in;
  while (here) {
    walk(here.dataset.id, back, "from");
    walk(here.dataset.id, on, "to");
    here = here.dataset.in ? holder(here.dataset.in) : null;
  }
  for (const edge of edges) {
    const is = lit.has(edge) || (!!loop && edge.dataset.again !== undefined && edge.dataset.in === loop);
    edge.children[0].classList.toggle("g-edge--lit", is);
    edge.children[1].classList.toggle("g-arrow--lit", is);
    if (is) edge.parentNode.insertBefore(edge, lastEdge(edge)); // above those that cross it
  }
}

function lastEdge(edge) {
  let next = edge.nextElementSibling;
  while (next?.classList.contains("g-e")) next = next.nextElementSibling;
  return next;
}

function show(box) {
  box?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const EDGE = 16;
function centre(box) {
  const frame = scroller();
  if (!frame || !box) return;
  const outer = frame.getBoundingClientRect(), inner = (box.querySelector(".g-box") || box).getBoundingClientRect();
  frame.scrollLeft += inner.left + Math.min(inner.width, outer.width - 2 * EDGE) / 2 - outer.left - outer.width / 2; // a wider one by its head
  frame.scrollTop += inner.top + Math.min(inner.height, outer.height) / 2 - outer.top - outer.height / 2;
}

let asked = 0;
function load(address) {
  if (!window.htmx || !document.getElementById("panel")) { location.assign(address); return; }
  const mine = ++asked;
  window.htmx.ajax("GET", address, { target: "#panel", swap: "outerHTML" }).then(() => {
    if (mine === asked) document.dispatchEvent(new CustomEvent("chief:selected", { detail: { id: selected } }));
  });
}

/** Select a box as a click on it does: the panel is loaded, the address says it, the drawing stays. */
export function select(id, { push = true } = {}) {
  const box = boxOf(id);
  if (!box || box.dataset.fold !== undefined) return false;
  mark(id);
  show(box);
  const address = box.getAttribute("href");
  if (push) history.pushState({ graph: id }, "", address);
  load(address);
  return true;
}

const addressOf = (link) => { const to = new URL(link.getAttribute("href"), location.href); return to.pathname + to.search; };

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || !isPlain(event) || !graph() || link.getAttribute("target")) return;
  if (link.dataset.fold !== undefined) { keepPlace(); return; }
  const inside = link.closest("svg.graph");
  const box = inside ? link : link.closest("#panel") && boxes().find((each) => each.dataset.fold === undefined && addressOf(each) === addressOf(link));
  if (!box || box.dataset.id === undefined || !document.getElementById("panel")) return;
  event.preventDefault();
  select(box.dataset.id);
});

addEventListener("popstate", () => {
  if (!graph()) return;
  const here = location.pathname + location.search;
  const box = boxes().find((each) => each.dataset.fold === undefined && addressOf(each) === here);
  mark(box ? box.dataset.id : null);
  show(box);
  load(here);
});

// -- Zoom ------------------------------------------------------------------------------------------------------------

const LEAST = 0.2, MOST = 2;
let zoom = null; // null: as it was drawn, fitted by the style sheet where it is a little too wide

const drawn = () => { const box = graph().viewBox.baseVal; return { width: box.width, height: box.height }; };
const current = () => zoom ?? graph().getBoundingClientRect().width / drawn().width;

function zoomTo(next, at = null) {
  const svg = graph(), frame = scroller();
  if (!svg || !frame) return;
  const outer = frame.getBoundingClientRect(), before = svg.getBoundingClientRect(), was = current();
  const point = at || { x: outer.left + frame.clientWidth / 2, y: outer.top + frame.clientHeight / 2 };
  zoom = Math.min(MOST, Math.max(LEAST, next));
  const { width, height } = drawn();
  svg.classList.remove(...[...svg.classList].filter((each) => each.startsWith("graph--fit")));
  svg.setAttribute("width", Math.round(width * zoom));
  svg.setAttribute("height", Math.round(height * zoom));
  const after = svg.getBoundingClientRect();
  frame.scrollLeft += after.left + (point.x - before.left) * (zoom / was) - point.x;
  frame.scrollTop += after.top + (point.y - before.top) * (zoom / was) - point.y;
  tellZoom();
  keepHeads();
}

function fit() {
  const frame = scroller();
  if (!frame) return;
  const { width, height } = drawn(), style = getComputedStyle(frame);
  const room = (size, ...sides) => size - sides.reduce((sum, side) => sum + parseFloat(style[side]), 0);
  zoomTo(Math.min(1, room(frame.clientWidth, "paddingLeft", "paddingRight") / width, room(frame.clientHeight, "paddingTop", "paddingBottom") / height));
}

const FAR = 0.35; // below, no text can be read: boxes that have a state show it large instead
function tellZoom() {
  graph().classList.toggle("graph--far", current() < FAR && graph().querySelector('.node[class*=" s-"]') !== null);
  for (const each of document.querySelectorAll("[data-zoom]")) each.textContent = `${Math.round(current() * 100)} %`;
}

const STEPS = { in: 1.25, out: 0.8 };
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-zoom-in], [data-zoom-out], [data-zoom-fit], [data-zoom]");
  if (!button || !graph()) return;
  if (button.hasAttribute("data-zoom-in")) zoomTo(current() * STEPS.in);
  else if (button.hasAttribute("data-zoom-out")) zoomTo(current() * STEPS.out);
  else if (button.hasAttribute("data-zoom-fit")) fit();
  else zoomTo(1);
});

document.addEventListener("wheel", (event) => {
  if (!event.ctrlKey || !event.target.closest?.(".canvas-scroll") || !graph()) return;
  event.preventDefault();
  zoomTo(current() * Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
}, { passive: false });

// -- Heads of what is wider than the window ----------------------------------------------------------------------------

const HEAD_GAP = 60; // what stays free between the two

/** Move both ends of a container's head to where they can be read: its title at its left side says nothing out of sight. */
function keepHeads() {
  const frame = scroller();
  if (!frame) return;
  const view = frame.getBoundingClientRect(), scale = current();
  const moves = [...document.querySelectorAll("svg.graph .con > a")].map((head) => {
    const [near, far] = [head.querySelector(".g-near"), head.querySelector(".g-far")];
    const ground = head.querySelector(".g-con").getBoundingClientRect();
    const free = Math.max(0, ground.width / scale - near.getBBox().width - far.getBBox().width - HEAD_GAP);
    const left = Math.min(free, Math.max(0, view.left - ground.left) / scale);
    return [near, left, far, Math.min(free - left, Math.max(0, ground.right - view.left - frame.clientWidth) / scale)];
  });
  const move = (part, by) => { if (by) part.setAttribute("transform", `translate(${by} 0)`); else part.removeAttribute("transform"); };
  for (const [near, left, far, right] of moves) { move(near, Math.round(left)); move(far, -Math.round(right)); }
}

let heads = 0;
const keepHeadsSoon = () => { heads ||= requestAnimationFrame(() => { heads = 0; if (graph()) keepHeads(); }); };
document.addEventListener("scroll", (event) => { if (event.target === scroller()) keepHeadsSoon(); }, { capture: true, passive: true });
addEventListener("resize", keepHeadsSoon);

// -- Find ------------------------------------------------------------------------------------------------------------

let found = [];
let at = -1;

function find(text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  found = [];
  at = -1;
  for (const box of boxes()) {
    const said = `${box.dataset.id} ${box.getAttribute("aria-label")} ${box.dataset.has || ""}`.toLowerCase();
    const is = words.length > 0 && words.every((word) => said.includes(word));
    box.classList.toggle("is-found", is);
    box.classList.remove("is-at");
    if (is) found.push(box);
  }
  graph()?.classList.toggle("is-finding", words.length > 0);
  return words.length > 0;
}

const field = (target) => target instanceof HTMLInputElement && target.matches("[data-find]") && graph() ? target : null;
const count = (text) => { for (const each of document.querySelectorAll("[data-found-count]")) each.textContent = text; };
const tell = (input) => {
  const words = input.dataset;
  const text = found.length ? (words.found || "{n} found, Enter goes on").replace("{n}", found.length).replace("{at}", at + 1) : words.none || "Nothing found";
  count(at < 0 ? found.length : `${at + 1}/${found.length}`);
  said(text);
};

let soon = 0;
document.addEventListener("input", (event) => {
  const input = field(event.target);
  if (!input) return;
  clearTimeout(soon);
  soon = setTimeout(() => {
    if (find(input.value)) { tell(input); if (found.length === 1) centre(found[0]); }
    else count("");
  }, 120);
});

document.addEventListener("keydown", (event) => {
  const input = field(event.target);
  if (!input || event.isComposing) return;
  if (event.key === "Escape") { clearTimeout(soon); input.value = ""; find(""); count(""); return; }
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(soon);
  const before = at;
  if (find(input.value)) {
    if (found.length) {
      at = (before + (event.shiftKey ? -1 : 1) + found.length) % found.length;
      if (before < 0 && event.shiftKey) at = found.length - 1;
      found[at].classList.add("is-at");
      centre(found[at]);
      if (found[at].dataset.fold === undefined) select(found[at].dataset.id);
    }
    tell(input);
  }
});

// -- Keys ------------------------------------------------------------------------------------------------------------

const middle = (box) => { const { left, top, width, height } = (box.querySelector(".g-box") || box).getBoundingClientRect(); return { x: left + width / 2, y: top + height / 2 }; };

/** The box that lies nearest in a direction, distance across counting double. */
function beside(box, key) {
  const from = middle(box);
  let best = null, least = Infinity;
  for (const other of boxes()) {
    if (other === box || other.contains(box)) continue;
    const to = middle(other);
    const [along, across] = key === "ArrowDown" ? [to.y - from.y, to.x - from.x] : key === "ArrowUp" ? [from.y - to.y, to.x - from.x]
      : key === "ArrowRight" ? [to.x - from.x, to.y - from.y] : [from.x - to.x, to.y - from.y];
    const far = along + 2 * Math.abs(across);
    if (along > 4 && far < least) { least = far; best = other; }
  }
  return best;
}

function stepTo(by) {
  if (!document.getElementById("panel")) return false; // nothing here shows a step
  const all = boxes().filter((each) => each.dataset.fold === undefined && each.classList.contains("node"));
  if (!all.length) return false;
  const here = all.findIndex((each) => each.dataset.id === selected);
  const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by))];
  return select(next.dataset.id);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || !graph() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow")) {
    const box = document.activeElement?.closest?.("svg.graph a[data-id]");
    const next = box && beside(box, event.key);
    if (next) { event.preventDefault(); next.focus({ preventScroll: true }); show(next); }
    return;
  }
  if (document.documentElement.dataset.keys === "off" || inField(event.target) || document.querySelector("dialog[open]")) return;
  let done = true;
  if (event.key === "+" || event.key === "=") zoomTo(current() * STEPS.in);
  else if (event.key === "-" || event.key === "−") zoomTo(current() * STEPS.out);
  else if (event.key === "0") fit();
  else if (event.key === "]") done = stepTo(1);
  else if (event.key === "[") done = stepTo(-1);
  else done = false;
  if (done) event.preventDefault();
});

// -- Stale only ------------------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-only-stale]");
  if (!button || !graph()) return;
  const on = graph().classList.toggle("only-stale");
  button.setAttribute("aria-pressed", String(on));
});

// -- Live ------------------------------------------------------------------------------------------------------------

/** Put a newer drawing in the place of this one: scroll, zoom, selection, focus and what was found stay as they are. */
export function refresh(text) {
  const svg = graph();
  const next = new DOMParser().parseFromString(text, "text/html").querySelector("svg.graph");
  if (!svg || !next) return false;
  const frame = scroller();
  const place = frame && { left: frame.scrollLeft, top: frame.scrollTop };
  const focused = svg.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const size = drawn();
  svg.replaceChildren(...next.childNodes);
  if (zoom === null) svg.setAttribute("class", [next.getAttribute("class"), ...["only-stale", "is-finding", "graph--far"].filter((each) => svg.classList.contains(each))].join(" "));
  svg.setAttribute("viewBox", next.getAttribute("viewBox"));
  svg.setAttribute("aria-label", next.getAttribute("aria-label"));
  if (zoom === null) { svg.setAttribute("width", next.getAttribute("width")); svg.setAttribute("height", next.getAttribute("height")); }
  else if (size.width !== drawn().width || size.height !== drawn().height) { svg.setAttribute("width", Math.round(drawn().width * zoom)); svg.setAttribute("height", Math.round(drawn().height * zoom)); }
  mark(selected);
  const input = document.querySelector("input[data-find]");
  if (input?.value) { const was = at; find(input.value); at = Math.min(was, found.length - 1); }
  if (focused) boxOf(focused)?.focus({ preventScroll: true });
  if (place) { frame.scrollLeft = place.left; frame.scrollTop = place.top; }
  keepHeads();
  return true;
}

// -- First paint -----------------------------------------------------------------------------------------------------

const PLACE = "chief.graph";
function keepPlace() { // a fold is opened by a page of its own: it shows where this one was
  const frame = scroller();
  try { sessionStorage.setItem(PLACE, JSON.stringify({ path: location.pathname, left: frame.scrollLeft, top: frame.scrollTop, zoom })); } catch { /* private */ }
}

if (graph()) {
  const chosen = document.querySelector("svg.graph a.is-selected:is(.g-named, .g-lane-head)") || document.querySelector("svg.graph a.is-selected");
  selected = chosen?.dataset.id ?? null;
  const kept = (() => { try { return JSON.parse(sessionStorage.getItem(PLACE) || "null"); } catch { return null; } })();
  try { sessionStorage.removeItem(PLACE); } catch { /* private */ }
  if (kept?.path === location.pathname) {
    if (kept.zoom !== null) zoomTo(kept.zoom);
    scroller().scrollLeft = kept.left;
    scroller().scrollTop = kept.top;
  } else {
    const changed = document.querySelector("svg.graph .node:is(.x-added, .x-changed, .x-removed)");
    const first = chosen || (scroller().scrollWidth > scroller().clientWidth ? changed || boxes()[0] : null);
    if (first) centre(first);
  }
  for (const button of document.querySelectorAll("button[data-only-stale]")) button.hidden = false;
  for (const group of document.querySelectorAll(".zoom")) group.classList.add("zoom--on");
  tellZoom();
  keepHeads();
}
