// Tabs beside the table.

import { el, fill } from "./dom.js";
import { SAY } from "./strings.js";

// The views by name, each with its element; on a phone they are a sheet, to be pulled up.
export function tabs(views) {
  const names = Object.keys(views);
  const side = el("aside", { class: "side", "aria-label": SAY.sections });
  const isSheet = () => getComputedStyle(side).position === "fixed";
  const open = (name, isPulled = true) => {
    for (const other of names) {
      buttons[other].setAttribute("aria-selected", String(other === name));
      buttons[other].tabIndex = other === name ? 0 : -1;
      panels[other].hidden = other !== name;
    }
    side.classList.toggle("pulled", isPulled);
    document.body.classList.toggle("wide-map", name === "strategy");
    views[name].shown?.();
  };
  const press = (name) => open(name, !(isSheet() && side.classList.contains("pulled") && !panels[name].hidden));
  const move = (event, name) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = names[(names.indexOf(name) + step + names.length) % names.length];
    open(next);
    buttons[next].focus();
    event.preventDefault();
  };
  const buttons = Object.fromEntries(names.map((name) => [name, el("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name,
    onclick: () => press(name), onkeydown: (event) => move(event, name),
  }, SAY[name])]));
  const panels = Object.fromEntries(names.map((name) => [name, el("div",
    { id: name, role: "tabpanel", tabindex: 0, "aria-labelledby": `tab-${name}` }, views[name].element)]));
  fill(side, el("div", { role: "tablist", "aria-label": SAY.sections }, Object.values(buttons)), Object.values(panels));
  return { side, open };
}
