// The profile: the browser's own time zone, and whether it may notify. Nothing here is needed to save.
const zone = (() => { try { return Intl.DateTimeFormat().resolvedOptions().timeZone; } catch { return ""; } })();
const line = document.querySelector("[data-zone]");
const select = document.getElementById("time-zone");
const option = zone && [...(select?.options ?? [])].find((each) => each.value === zone);
if (line && option && select.value !== zone) {
  line.querySelector("[data-zone-name]").textContent = zone;
  line.hidden = false;
  line.querySelector("[data-zone-use]").addEventListener("click", () => { select.value = zone; line.hidden = true; select.focus(); });
}

const box = document.querySelector("[data-permission]");
function show() {
  box.hidden = false;
  for (const each of ["default", "granted", "denied"]) box.querySelector(`[data-permission-${each}]`).hidden = Notification.permission !== each;
}
if (box && "Notification" in window && window.isSecureContext) {
  show();
  box.querySelector("[data-permission-ask]").addEventListener("click", async () => { await Notification.requestPermission(); show(); });
}
