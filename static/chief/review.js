// While a plan or an amendment is being read: what others decide meanwhile is told in a corner, and nothing moves.
import { unsent } from "./chief.js";
import { onNews, oneAtATime } from "./live.js";

const corner = document.querySelector("[data-moved]");
const look = oneAtATime(async () => {
  try {
    const answer = await fetch(corner.dataset.moved, { cache: "no-store", credentials: "same-origin", redirect: "error" });
    if (answer.status !== 200) return;
    const told = (await answer.text()).trim();
    if (told !== corner.dataset.told) { corner.dataset.told = told; corner.innerHTML = told; }
  } catch { /* gone, signed out, or out of reach: whoever decides is told then */ }
});

if (corner) onNews(look);

// A note that was typed and never added goes along with no decision: that is said once, and the next press decides.
const verdict = document.querySelector("form.verdict[data-notes]");
let told = "";

function left() {
  const line = verdict.querySelector("[data-unsent]");
  return [...new Set(unsent(verdict.dataset.notes))].map((form) => {
    const step = form.slice("note:".length);
    const link = document.createElement("a");
    link.href = step ? `${verdict.dataset.here}?step=${encodeURIComponent(step)}` : verdict.dataset.here;
    link.textContent = step || line.dataset.plan;
    return link;
  });
}

verdict?.addEventListener("submit", (event) => {
  const links = left();
  const now = links.map((link) => link.href).join(" ");
  if (!links.length || now === told) return;
  told = now;
  event.preventDefault();
  event.stopPropagation(); // nothing was sent, so nothing typed is let go
  verdict.querySelector("[data-unsent-on]").replaceChildren(...links.flatMap((link, n) => (n ? [", ", link] : [link])));
  verdict.querySelector("[data-unsent]").hidden = false;
});
