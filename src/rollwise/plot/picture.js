// The figure of a page as a picture of the format and the scale in `asFile`: a data URI in the text
// of an element. Drawing in space without a graphics card takes long: the picture is drawn once, not
// first on the page and then again, and not sixty times a second.
window.requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 250);
let asked;
rollwiseLibrary.then(() => {
  Plotly.newPlot = (place, data, layout) => { asked = { data, layout }; };
});
window.addEventListener("load", async () => {
  await Promise.all(rollwiseDrawn);
  const width = document.getElementById("figure").clientWidth;
  const uri = await Plotly.toImage(asked, { ...asFile, width, height: asked.layout.height });
  const p = document.createElement("pre");
  p.id = "picture";
  p.textContent = uri;
  document.body.replaceChildren(p);
});
