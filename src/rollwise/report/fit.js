// The print is scaled to one side of A4: 703 by 1032 pixels within its margins.
window.addEventListener("load", async () => {
  await Promise.all(rollwiseDrawn);
  const fit = Math.min(0.87, 1010 / document.querySelector("main").scrollHeight);
  document.documentElement.style.setProperty("--fit", fit);
});
