// Needs you, kept true while it is looked at: a card that someone else decided says so in its place, unless something
// is being typed into it; what is new waits behind a button. Nothing that is looked at moves.
import { onNews, oneAtATime } from "./live.js";

const MINUTE = 60_000;
const page = document.getElementById("needs-you");
const queue = document.getElementById("queue");
const fresh = document.getElementById("queue-new");

// What is decided comes last: the server looks at no more than a few hundred.
const shown = () => [":scope > .asks:not([data-ended])", ":scope > [data-gone], :scope > [data-ended]"]
  .flatMap((which) => (queue ? [...queue.querySelectorAll(which)] : []).map((each) => each.dataset.card));
const cardOf = (name) => (queue ? [...queue.children].find((each) => each.dataset.card === name) : null);
const typedIn = (card) => [...card.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
const busy = (card) => card.matches(".htmx-request") || card.contains(document.activeElement) || typedIn(card);

/** Turn a card into what became of it; one that holds the focus or a typed word keeps its form, and loses its buttons. */
function end(card, gone) {
  if (card.matches("[data-gone], [data-ended]")) { // what followed, and how long ago
    card.querySelector(".gone-line")?.replaceChildren(...document.importNode(gone.querySelector(".gone-line"), true).childNodes);
    return;
  }
  const moved = gone.dataset.gone === "revised";
  if (moved && !busy(card)) { renew(card); return; }
  if (!busy(card)) { card.replaceWith(document.importNode(gone, true)); return; }
  card.dataset.ended = gone.dataset.gone;
  const line = document.importNode(gone.querySelector(".gone-line"), true);
  line.setAttribute("role", "status");
  card.querySelector(".decide")?.prepend(line);
  // Of a plan that moved on the button still answers: with what changed, and what was typed in place.
  if (!moved) for (const button of card.querySelectorAll(".decide button")) button.disabled = true;
}

/** Put the revision that waits now in the place of the one that was shown, with what changed. */
async function renew(card) {
  const answer = await fetch(`/needs-you/${card.dataset.card}`, { headers: { "HX-Request": "true", "HX-Target": "card" }, cache: "no-store" }).catch(() => null);
  if (!answer?.ok || busy(card)) return;
  const told = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("li[data-card]");
  if (!told || cardOf(told.dataset.card) || !card.isConnected) return;
  const mine = document.importNode(told, true);
  card.replaceWith(mine);
  window.htmx?.process(mine);
}

const look = oneAtATime(async () => {
  const url = new URL(page.dataset.news, location.href);
  const asked = shown();
  for (const card of asked) url.searchParams.append("card", card);
  let text = "";
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true" }, cache: "no-store" });
    if (!answer.ok || answer.status === 204) return;
    text = await answer.text();
  } catch { return; }
  if (shown().join() !== asked.join()) { look(); return; } // cards came or went meanwhile: what it says of them is old
  const told = new DOMParser().parseFromString(text, "text/html");
  for (const gone of told.querySelectorAll("li[data-gone]")) {
    const card = cardOf(gone.dataset.card);
    if (card) end(card, gone);
  }
  for (const age of told.querySelectorAll("[data-age-of]")) {
    cardOf(age.dataset.ageOf)?.querySelector(".ask-age")?.replaceChildren(...age.childNodes);
  }
  const counts = new Map([...told.querySelectorAll("[data-count-of]")].map((each) => [each.dataset.countOf, each.textContent]));
  for (const chip of document.querySelectorAll("[data-chip]")) chip.querySelector("b").textContent = counts.get(chip.dataset.chip) ?? "0";
  const line = told.querySelector("[data-new]");
  if (!line) return;
  document.getElementById("how-many")?.replaceChildren(...told.querySelector("[data-how-many]").childNodes);
  fresh.hidden = line.dataset.new === "0";
  fresh.querySelector("[data-n]").textContent = line.textContent;
});

// Show what is new without leaving the place: at the end, where the youngest stand.
fresh?.querySelector("a").addEventListener("click", async (event) => {
  if (!queue || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  const there = event.currentTarget.href;
  const answer = await fetch(there, { headers: { "HX-Request": "true", "HX-Target": "queue" }, cache: "no-store" }).catch(() => null);
  if (!answer?.ok) { location.assign(there); return; }
  const told = new DOMParser().parseFromString(`<ol>${await answer.text()}</ol>`, "text/html");
  let first = null;
  for (const card of told.querySelectorAll("li[data-card]")) {
    if (cardOf(card.dataset.card)) continue;
    const mine = document.importNode(card, true);
    queue.append(mine);
    window.htmx?.process(mine);
    first ??= mine;
  }
  fresh.hidden = true;
  (first ?? queue).querySelector("[data-item-link]")?.focus();
  look(); // more may have come since it was asked for
});

// A decision answers with its card: the focus goes to what stands in the way, else to the next card's title.
document.addEventListener("htmx:afterSwap", (event) => {
  const name = event.detail.target?.dataset?.card;
  if (!queue || !name) return;
  look();
  const problem = queue.querySelector("[data-focus]");
  if (problem) { problem.focus(); return; }
  let next = cardOf(name)?.nextElementSibling;
  while (next && !next.matches(".asks:not([data-ended])")) next = next.nextElementSibling;
  (next ?? queue.querySelector(".asks:not([data-ended])") ?? cardOf(name))?.querySelector("[data-item-link]")?.focus();
});

if (page) {
  onNews(look);
  setInterval(() => { if (!document.hidden) look(); }, MINUTE);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
}
