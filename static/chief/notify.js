// Tells of what is new among what waits, by the browser's own notifications, once the person allowed them.
import { onNews } from "./live.js";

const words = document.querySelector("script[data-notify]")?.dataset;
const kinds = new Set((words?.notify || "").split(" "));
const TOLD = "chief.told";
const PAUSE = 30_000;

const keyOf = (item) => JSON.stringify([item.kind, item.workflow_id, item.run_id, item.amendment_id, item.question_id, item.path, item.since]);
const pageOf = (item) => (item.kind === "amendment" ? `/amendments/${item.amendment_id}` : item.kind === "draft" ? `/workflows/${item.workflow_id}` : `/runs/${item.run_id}`);

function tell(item) {
  // The tag: several tabs tell of one thing once.
  const note = new Notification(words[item.kind === "failed_run" ? "failedRun" : item.kind], { body: item.title, tag: keyOf(item) });
  note.addEventListener("click", () => { window.focus(); location.assign(pageOf(item)); note.close(); });
}

async function look() {
  const answer = await fetch("/v1/waiting?limit=1000", { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const items = await answer.json();
  let told = null;
  try { told = JSON.parse(localStorage.getItem(TOLD)); } catch { /* not ours, or private */ }
  // What waits when someone first looks is on the page; from then on, what comes is news.
  if (Array.isArray(told)) for (const item of items) if (kinds.has(item.kind) && !told.includes(keyOf(item))) tell(item);
  try { localStorage.setItem(TOLD, JSON.stringify(items.map(keyOf))); } catch { /* full or private */ }
}

let count = null;
let last = 0;
let later = 0;
function hear({ waiting }) {
  const due = waiting !== count ? 0 : Math.max(0, last + PAUSE - Date.now());
  if (due === 0) clearTimeout(later); else if (later) return;
  count = waiting;
  later = setTimeout(() => { later = 0; last = Date.now(); look().catch(() => {}); }, due);
}

if (words && "Notification" in window && Notification.permission === "granted") onNews(hear);
