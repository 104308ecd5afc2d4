// Needs you, kept true while it is looked at: a card that someone else decided says so in its place, unless something
// is being typed into it; what is new waits behind a button. Nothing that is looked at moves.
import { onNews } from "./live.js";

const page = document.getElementById("needs-you");
const queue = document.getElementById("queue");
const fresh = document.getElementById("queue-new");

const shown = () => (queue ? [...queue.children].map((each) => each.id).filter(Boolean) : []);
const typedIn = (card) => [...card.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
const busy = (card) => card.matches(".htmx-request") || card.contains(document.activeElement) || typedIn(card);

/** Turn a card into what became of it; one that holds the focus or a typed word keeps its form, and loses its buttons. */
function end(card, gone) {
  if (card.matches("[data-gone], [data-ended]")) return;
  if (!busy(card)) { card.replaceWith(document.importNode(gone, true)); return; }
  card.dataset.ended = "";
  const line = document.importNode(gone.querySelector(".gone-line"), true);
  line.setAttribute("role", "status");
  card.querySelector(".decide")?.prepend(line);
  for (const button of card.querySelectorAll(".decide button")) button.disabled = true;
}

let asking = null;
async function look() {
  asking?.abort();
  asking = new AbortController();
  const url = new URL(page.dataset.news, location.href);
  for (const card of shown()) url.searchParams.append("card", card);
  let text = "";
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true" }, signal: asking.signal, cache: "no-store" });
    if (!answer.ok || answer.status === 204) return;
    text = await answer.text();
  } catch { return; }
  const told = new DOMParser().parseFromString(text, "text/html");
  for (const gone of told.querySelectorAll("li[data-gone]")) {
    const card = document.getElementById(gone.id);
    if (card && queue?.contains(card)) end(card, gone);
  }
  const line = told.querySelector("[data-new]");
  if (!line) return;
  fresh.hidden = line.dataset.new === "0";
  fresh.querySelector("[data-n]").textContent = line.textContent;
}

// Show what is new without leaving the place: at the end, where the youngest stand.
fresh?.querySelector("a").addEventListener("click", async (event) => {
  if (!queue || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  const answer = await fetch(event.currentTarget.href, { headers: { "HX-Request": "true", "HX-Target": "queue" }, cache: "no-store" });
  if (!answer.ok) { location.assign(event.currentTarget.href); return; }
  const told = new DOMParser().parseFromString(`<ol>${await answer.text()}</ol>`, "text/html");
  let first = null;
  for (const card of told.querySelectorAll("ol > li")) {
    if (document.getElementById(card.id)) continue;
    const mine = document.importNode(card, true);
    queue.append(mine);
    window.htmx?.process(mine);
    first ??= mine;
  }
  fresh.hidden = true;
  first?.querySelector("[data-item-link]")?.focus();
});

// A decision answers with its card: the focus goes on to the next one's title.
document.addEventListener("htmx:afterSwap", (event) => {
  const target = event.detail.target;
  if (!queue || !target || !queue.contains(document.getElementById(target.id) ?? queue)) return;
  const card = document.getElementById(target.id);
  const problem = queue.querySelector("[data-focus]");
  if (problem) { problem.focus(); return; }
  let next = card?.nextElementSibling;
  while (next && !next.matches(".asks")) next = next.nextElementSibling;
  (next ?? queue.querySelector(".asks") ?? card)?.querySelector("[data-item-link]")?.focus();
});

if (page) {
  onNews(look);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
}
