// The profile: whether the browser may notify. Nothing here is needed to save.
const box = document.querySelector("[data-permission]");
function show() {
  box.hidden = false;
  for (const each of ["default", "granted", "denied"]) box.querySelector(`[data-permission-${each}]`).hidden = Notification.permission !== each;
}
if (box && "Notification" in window && window.isSecureContext) {
  show();
  box.querySelector("[data-permission-ask]").addEventListener("click", async () => { await Notification.requestPermission(); show(); });
}
