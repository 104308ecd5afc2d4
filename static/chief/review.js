// While a plan or an amendment is being read: what others decide meanwhile is told in a corner, and nothing moves.
import { onNews } from "./live.js";

const corner = document.querySelector("[data-moved]");
let asking = false;

async function look() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(corner.dataset.moved, { cache: "no-store", credentials: "same-origin", redirect: "error" });
    if (answer.status !== 200) return;
    const told = (await answer.text()).trim();
    if (told !== corner.dataset.told) { corner.dataset.told = told; corner.innerHTML = told; }
  } catch {
    // gone, signed out, or out of reach: whoever decides is told then
  } finally {
    asking = false;
  }
}

if (corner) onNews(look);
