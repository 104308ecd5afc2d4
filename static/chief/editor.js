// The plan editor beside its forms: what is typed outlives the page, problems stand at their fields, nothing jumps.
import { said, sending } from "./chief.js";

const form = () => document.getElementById("editor");
const PREFIX = "chief.kept:editor:"; // signing out forgets everything below chief.kept
const WEEK = 7 * 24 * 3600 * 1000;
let typed = false;
let leaving = false;
let heard = "";

// -- What is typed is kept in this browser until it is saved ---------------------------------------------------------

const key = () => PREFIX + form().dataset.keptAs;
const changed = () => !!form() && (typed || "changed" in form().dataset);

function forget() { try { localStorage.removeItem(key()); } catch { /* private */ } }

function keep() {
  if (!form() || leaving) return;
  if (!changed()) return;
  const fields = [...new FormData(form())].filter(([name]) => !["csrfmiddlewaretoken", "undo", "sought", "list"].includes(name));
  try { localStorage.setItem(key(), JSON.stringify({ at: Date.now(), fields })); } catch { /* full */ }
}

function send() { leaving = true; sending([key()]); }

function offer() {
  if (form() && "changed" in form().dataset) { keep(); return; } // it was sent to be shown again, and isn't saved
  if (!form() || "refused" in document.body.dataset) return;
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(key()) || "null"); } catch { /* not ours */ }
  if (!kept || Date.now() - kept.at > WEEK) return;
  const bar = form().querySelector("[data-kept]");
  const at = new Date(kept.at);
  bar.querySelector("time").dateTime = at.toISOString();
  bar.querySelector("time").textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  bar.hidden = false;
  bar.querySelector("[data-drop]").addEventListener("click", () => { forget(); bar.hidden = true; });
  bar.querySelector("[data-bring-back]").addEventListener("click", () => {
    const back = document.createElement("form");
    back.method = "post";
    back.action = form().action;
    back.enctype = "multipart/form-data";
    const add = (name, value) => { const field = document.createElement("textarea"); field.name = name; field.value = value; back.append(field); };
    for (const [name, value] of kept.fields) if (name !== "do") add(name, value);
    add("do", "check");
    add("csrfmiddlewaretoken", form().elements.csrfmiddlewaretoken.value);
    back.hidden = true;
    document.body.append(back);
    send();
    back.submit();
  });
}

let later = 0;
document.addEventListener("input", (event) => {
  if (!event.target.closest?.("#editor") || event.target.name === "sought") return;
  typed = true;
  clearTimeout(later);
  later = setTimeout(keep, 300);
});
window.addEventListener("pagehide", keep);
window.addEventListener("beforeunload", (event) => { if (!leaving && changed()) event.preventDefault(); });
document.addEventListener("submit", (event) => { if (event.target === form() && !event.defaultPrevented) send(); });
document.addEventListener("click", (event) => { if (event.target.closest("[data-discard]")) { forget(); leaving = true; } });
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Redirect") && event.detail.requestConfig.elt === form()) {
    if (event.detail.requestConfig.parameters.do?.startsWith("save") && !event.detail.xhr.getResponseHeader("HX-Redirect").startsWith("/signin")) forget();
    leaving = true;
  }
});

// -- Problems stand at their fields ----------------------------------------------------------------------------------

function show() {
  for (const line of form().querySelectorAll("[data-slot].error")) {
    line.hidden = true;
    document.getElementById(`f-${line.dataset.slot}`)?.removeAttribute("aria-invalid");
  }
  const counts = {};
  for (const told of form().querySelectorAll("#problems li")) {
    counts[told.dataset.place] = (counts[told.dataset.place] || 0) + 1;
    if (!("here" in told.dataset)) continue;
    let slot = told.dataset.slot;
    while (slot && !document.getElementById(`e-${slot}`)) slot = slot.slice(0, Math.max(0, slot.lastIndexOf("-")));
    const line = slot && document.getElementById(`e-${slot}`);
    if (!line) continue;
    const message = told.querySelector("[data-message]").textContent;
    const text = line.querySelector("span");
    text.textContent = line.hidden ? message : `${text.textContent}; ${message}`;
    line.hidden = false;
    document.getElementById(`f-${slot}`)?.setAttribute("aria-invalid", "true");
  }
  for (const line of form().querySelectorAll(".ed-line")) {
    const bad = line.querySelector("[data-bad]");
    bad.textContent = counts[line.dataset.place] || 0;
    bad.hidden = !counts[line.dataset.place];
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.ed-problem");
  const field = link && document.getElementById(link.hash.slice(1));
  if (!field) return;
  event.preventDefault();
  field.focus();
});

// -- Nothing jumps: the list stays where it was, the focus goes where the work goes on -------------------------------

// An answer that is no editor (a server that stumbled, a proxy's page) must not take its place.
function failed() {
  const bar = form()?.querySelector("[data-failed]");
  if (!bar) return;
  bar.hidden = false;
  bar.focus();
}
const ofForm = (event) => event.target === form() || event.target.matches?.("#f-type, #f-inside");
document.addEventListener("htmx:sendError", (event) => { if (ofForm(event)) failed(); });

let stood = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (target?.id === "problems" && xhr.status >= 400) { event.detail.shouldSwap = false; return; }
  if (target !== form()) return;
  if (!xhr.responseText.includes('id="editor"')) { event.detail.shouldSwap = false; failed(); return; }
  stood = { list: document.getElementById("ed-scroll")?.scrollTop, begin: document.getElementById("ed-scroll")?.dataset.begin, main: document.getElementById("ed-main")?.scrollTop, place: form().elements.place?.value };
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id === "problems") {
    show();
    const now = form().querySelector(".ed-side-h").textContent.trim();
    if (now !== heard) said(now);
    heard = now;
    return;
  }
  if (!stood || !form()) return;
  typed = false;
  const list = document.getElementById("ed-scroll");
  if (list && stood.list !== undefined && list.dataset.begin === stood.begin) list.scrollTop = stood.list;
  if (form().elements.place?.value === stood.place) document.getElementById("ed-main")?.scrollTo(0, stood.main || 0);
  form().querySelector(".ed-line[aria-current]")?.scrollIntoView({ block: "nearest" });
  const next = form().querySelector("[data-focus]") || form().querySelector("[autofocus]");
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  stood = null;
  keep();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !event.target.closest("#editor")) return;
  event.preventDefault();
  form().querySelector("[data-send]").click(); // a press, for htmx knows the button only by that
}, true);

form()?.querySelector("[autofocus]")?.scrollIntoView({ block: "nearest" });
form()?.querySelector(".ed-line[aria-current]")?.scrollIntoView({ block: "nearest" });
offer();
