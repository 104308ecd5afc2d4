// The frame of every page: theme, kept text, keys, dialogs, menus. Nothing here is needed to read or to decide.
const root = document.documentElement;
const said = (text) => { const line = document.getElementById("said"); if (line) line.textContent = text; };
const visible = (el) => el.getClientRects().length > 0;
const inField = (el) => el instanceof Element && !!el.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

// -- Theme -----------------------------------------------------------------------------------------------------------

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    document.cookie = `chief_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
  });
}

// -- Kept text -------------------------------------------------------------------------------------------------------
// What is typed is kept in this browser until it was sent: a reload, an expired session or a crash loses nothing.

const KEPT = "chief.kept:";
const WEEK = 7 * 24 * 3600 * 1000;
const store = (() => { try { localStorage.setItem("chief.probe", "1"); localStorage.removeItem("chief.probe"); return localStorage; } catch { return null; } })();
const keeps = (field) => field instanceof HTMLElement && field.matches("form[method=post] textarea[name], form[method=post] input[type=text][name], form[method=post] input:not([type])[name]") && !field.closest("[data-no-keep]");
// By where the form sends to: the same words on another page, or on the one that offers to send again, are the same.
const formKey = (form) => `${new URL(form.getAttribute("action") || location.pathname, location.href).pathname}|${form.querySelector("[name=form]")?.value || form.id || ""}`;
const keyOf = (field) => {
  const twins = [...field.form.elements].filter((each) => each.name === field.name);
  return `${KEPT}${formKey(field.form)}|${field.name}|${twins.indexOf(field)}`;
};

function restore(within) {
  if (!store) return;
  for (const field of within.querySelectorAll("form[method=post] textarea[name], form[method=post] input[name]")) {
    if (!keeps(field) || field.value !== "") continue;
    let kept = null;
    try { kept = JSON.parse(store.getItem(keyOf(field)) || "null"); } catch { /* not ours */ }
    if (!kept || Date.now() - kept.at > WEEK) continue;
    field.value = kept.text;
    field.closest("details:not([open])")?.setAttribute("open", "");
  }
}

/** What was typed into a form that sends to `path` and was never sent: the value of each form's field `form`. */
function unsent(path) {
  if (!store) return [];
  const prefix = `${KEPT}${path}|`;
  return Object.keys(store).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length).split("|").slice(0, -2).join("|"));
}

function forget(form) {
  if (!store) return;
  for (const field of form.elements) if (keeps(field)) store.removeItem(keyOf(field));
}

const here = () => location.href.split("#")[0];

/** A plain submit, without htmx: what is kept under `keys` is let go when the page that follows says that it was taken. */
function sending(keys) {
  try { sessionStorage.setItem("chief.sent", JSON.stringify({ keys, from: here() })); } catch { /* private */ }
}

/** What the submit before this page sent. A page that was come to otherwise, after a server stumbled, is no answer. */
function sent() {
  let last = null;
  try {
    last = JSON.parse(sessionStorage.getItem("chief.sent") || "null");
    sessionStorage.removeItem("chief.sent");
  } catch { /* private */ }
  const back = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  return last && !back && document.referrer === last.from ? last.keys : [];
}

function forgetAll() {
  if (!store) return;
  for (const key of Object.keys(store)) if (key.startsWith(KEPT)) store.removeItem(key);
}

if (store) {
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (!keeps(field)) return;
    if (field.value === field.defaultValue || field.value === "") store.removeItem(keyOf(field));
    else { try { store.setItem(keyOf(field), JSON.stringify({ text: field.value, at: Date.now() })); } catch { /* full */ } }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-forget]")) { forgetAll(); return; }
    if (window.htmx && form.matches("[hx-post]")) return; // its answer tells, below
    sending([...form.elements].filter(keeps).map(keyOf));
  });
  const taken = !("refused" in document.body.dataset);
  for (const key of sent()) if (taken) store.removeItem(key);
  restore(document);
  // One by htmx: before the answer comes in, for the same form may stand in it again.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { requestConfig: { elt, verb }, xhr } = event.detail;
    const form = elt.closest("form");
    if (form && verb === "post" && xhr.status < 400 && !form.matches("[data-check]") && !elt.matches("[data-check]")) forget(form);
  });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.target instanceof Element) restore(event.target); });
}

// Signing in again, in another tab, renewed the token of every form: the one that waited for it takes the new one.
document.addEventListener("submit", (event) => {
  const token = /(?:^|; )chief_csrf=([^;]+)/.exec(document.cookie)?.[1];
  const field = event.target.matches("[data-fresh-token]") && event.target.querySelector("[name=csrfmiddlewaretoken]");
  if (token && field) field.value = token;
}, true);

// -- Dialogs, menus, copying -----------------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener && !event.metaKey && !event.ctrlKey) {
    const dialog = document.getElementById(opener.dataset.dialog);
    if (dialog?.showModal) { event.preventDefault(); opener.closest("details.menu")?.removeAttribute("open"); dialog.showModal(); }
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.removeAttribute("open");
  const copier = event.target.closest("[data-copy]");
  if (copier) {
    const text = document.getElementById(copier.dataset.copy)?.textContent ?? "";
    try { await navigator.clipboard.writeText(text); } catch { return; }
    const word = copier.querySelector("[data-word]");
    if (word) { const before = word.textContent; word.textContent = copier.dataset.done || before; setTimeout(() => { word.textContent = before; }, 1600); }
    said(copier.dataset.done || "");
  }
});

// -- Focus: a panel that is replaced hands it on, to the same control if the new one has it --------------------------

const nameOf = (el) => el.getAttribute("aria-label") || el.textContent.trim();
let held = null;
document.addEventListener("htmx:beforeSwap", ({ detail: { target, shouldSwap } }) => {
  held = shouldSwap && target.id === "panel" && target.contains(document.activeElement) ? document.activeElement : null;
});
// At once, and not when it has settled: a key pressed in between would go to another place than the next one.
document.addEventListener("htmx:afterSwap", ({ target: panel }) => {
  if (!held || panel.id !== "panel") return;
  const twin = [...panel.querySelectorAll(held.tagName)].find((each) => nameOf(each) === nameOf(held) && visible(each));
  held = null;
  // By its id, htmx has found it.
  if (document.activeElement && document.activeElement !== document.body) return;
  if (!twin) panel.tabIndex = -1;
  (twin || panel).focus({ preventScroll: true });
});

// -- Keys: outside fields, and one key alone never decides -----------------------------------------------------------

const items = () => [...document.querySelectorAll("[data-list-item]")].filter(visible);
const focusable = (item) => (item.matches("a, button, [tabindex]") ? item : item.querySelector("[data-item-link], h2 a, a, button") || item);
const lit = () => document.activeElement?.closest("[data-list-item]") || null;

function scope() { // keys act on the card that is lit: the one that holds the focus, else the first that asks
  return lit() || document.querySelector("[data-list-item]:has([data-key])") || document;
}

function step(by) {
  const all = items();
  if (!all.length) return false;
  let at = all.indexOf(lit());
  if (at < 0) at = all.findIndex((item) => item.matches("[aria-current=true]") || item.querySelector("[aria-current=true]"));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  const target = focusable(next);
  target.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

let armed = null;
function disarm() { armed?.classList.remove("is-armed"); armed = null; }
document.addEventListener("focusout", disarm);

function press(key) {
  const within = scope();
  const found = [...within.querySelectorAll(`[data-key="${CSS.escape(key)}"]`), ...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find(visible)
    || within.querySelector(`[data-key="${CSS.escape(key)}"]`) || document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!found) return false;
  for (let box = found.closest("details:not([open])"); box; box = box.parentElement.closest("details:not([open])")) box.open = true;
  if (found.matches("textarea, input, select")) { found.focus(); return true; }
  if (found.matches("a")) { found.click(); return true; }
  if (found.matches("[data-dialog]")) { found.click(); return true; }
  found.focus();
  found.scrollIntoView({ block: "nearest" });
  disarm();
  armed = found;
  found.classList.add("is-armed");
  said(`${found.textContent.trim().replace(/\s+/g, " ")}: Enter`);
  return true;
}

let going = 0;
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (event.key === "Escape") {
    const menu = document.querySelector("details.menu[open]");
    if (menu) { menu.removeAttribute("open"); menu.querySelector("summary").focus(); return; }
    const field = document.activeElement;
    if (!inField(field)) return;
    const card = field.closest("[data-list-item]"); // it stays the one that keys act on
    field.blur();
    if (card) focusable(card).focus({ preventScroll: true });
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && inField(event.target)) {
    const form = event.target.closest("form");
    const button = form?.querySelector("[data-send], .btn--primary, button:not([type=button]), .btn:not([type=button])");
    if (button) { event.preventDefault(); form.requestSubmit(button); }
    return;
  }
  if (root.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey || inField(event.target) || document.querySelector("dialog[open]")) return;
  const go = Date.now() - going < 1500;
  going = 0;
  let done = false;
  if (go) {
    const link = { n: '[href="/"]', w: '[href="/workflows"]' }[event.key];
    if (link) { document.querySelector(`.rail a${link}`)?.click(); done = true; }
  } else if (event.key === "g") { going = Date.now(); done = true; }
  else if (event.key === "?") { document.getElementById("keys")?.showModal(); done = true; }
  else if (event.key === "/") { const find = [...document.querySelectorAll("[data-find], .search input")].find(visible); find?.focus(); find?.select?.(); done = !!find; }
  else if (event.key === "j" || event.key === "k") done = step(event.key === "j" ? 1 : -1);
  else if (/^[1-9]$/.test(event.key)) { const tab = document.querySelectorAll(".tabs .tab")[Number(event.key) - 1]; tab?.click(); done = !!tab; }
  else if (event.key.length === 1) done = press(event.key);
  if (done) event.preventDefault();
});

// A refusal is read first.
document.querySelector("[data-focus]")?.focus({ preventScroll: false });

export { said, inField, restore, sending, unsent };
