// The page: reads what `loader.js` unpacked of the game, and shows its parts.

import { opened } from "./bytes.js";
import { el, fill } from "./dom.js";
import { Figures } from "./figures.js";
import { Game } from "./game.js";
import { OpenGame } from "./open_game.js";
import { PlayView } from "./play.js";
import { rulesView } from "./rules.js";
import { AskedSlices, WholeSlices } from "./slices.js";
import { Speech } from "./speech.js";
import { StrategyView } from "./strategy.js";
import { SAY } from "./strings.js";

function tabs(views) {
  const names = Object.keys(views);
  const open = (name) => {
    for (const other of names) {
      buttons[other].setAttribute("aria-selected", String(other === name));
      buttons[other].tabIndex = other === name ? 0 : -1;
      panels[other].hidden = other !== name;
    }
    views[name].shown?.();
  };
  const move = (event, name) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = names[(names.indexOf(name) + step + names.length) % names.length];
    open(next);
    buttons[next].focus();
  };
  const buttons = Object.fromEntries(names.map((name) => [name, el("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name,
    onclick: () => open(name), onkeydown: (event) => move(event, name),
  }, SAY[name])]));
  const panels = Object.fromEntries(names.map((name) => [name, el("div",
    { id: name, role: "tabpanel", "aria-labelledby": `tab-${name}` }, views[name].element)]));
  fill(document.querySelector("nav"), el("div", { role: "tablist", "aria-label": SAY.sections }, Object.values(buttons)));
  fill(document.querySelector("main"), Object.values(panels));
  return open;
}

async function start() {
  const known = opened(await globalThis.known);
  const game = known.head.is_open ? new OpenGame(known.head) : new Game(known);
  const figures = new Figures(game.head);
  const parts = { game, figures, speech: new Speech(game), open: (name) => open(name) };
  const play = new PlayView(parts);
  if (game.head.api?.has_file) {
    document.querySelector("header p").append(" ", el("a", { href: `page${location.search}&file=yes` }, SAY.wholePage));
  }
  const slices = known.head.is_open ? new AskedSlices(game) : new WholeSlices(game, parts.speech);
  const strategy = new StrategyView({ ...parts, play, slices });
  const open = tabs({ play, strategy, rules: { element: rulesView(parts) } });
  open(document.documentElement.dataset.shows);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (document.getElementById("strategy").hidden === false) strategy.shown();
  });
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  const unpack = () => game.unpack?.(0) && setTimeout(unpack); // the rest, while the page is idle
  setTimeout(unpack);
}

start();
