// The page: reads what `loader.js` unpacked of the game, and shows its parts.

import { opened } from "./bytes.js";
import { button, el, fill } from "./dom.js";
import { Figures } from "./figures.js";
import { Game } from "./game.js";
import { OpenGame } from "./open_game.js";
import { PlayView } from "./play.js";
import { rulesView } from "./rules.js";
import { AskedSlices, WholeSlices } from "./slices.js";
import { Speech } from "./speech.js";
import { placeAt } from "./store.js";
import { StrategyView } from "./strategy.js";
import { SAY } from "./strings.js";

// The tabs beside the table; on a phone they are a sheet, to be pulled up.
function tabs(views) {
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

async function start() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(globalThis.css);
  document.adoptedStyleSheets = [sheet];
  const known = opened(await globalThis.known);
  const game = known.head.is_open ? new OpenGame(known.head) : new Game(known);
  const figures = new Figures(game.head);
  const speech = new Speech(game);
  const slices = known.head.is_open ? new AskedSlices(game) : new WholeSlices(game, speech);
  const parts = { game, figures, speech, slices, open: (...how) => open(...how) };
  await game.ready(game.start);
  const play = new PlayView(parts);
  if (game.head.api?.has_file) {
    document.querySelector("header p:not(.home)").append(" ", el("a", { href: `page${location.search}&file=yes` }, SAY.wholePage));
  }
  const strategy = new StrategyView({ ...parts, play });
  const { side, open } = tabs({ coach: play.coachView, moves: play.movesView, strategy, rules: { element: rulesView(parts) } });
  side.append(play.movesView.chart);
  fill(document.querySelector("main"), play.element, side);
  const shows = document.documentElement.dataset.shows;
  open(shows === "play" ? "rules" : shows, shows !== "play");
  // A position is looked at under its address; without one the game goes on.
  const goThere = async () => {
    const place = placeAt(location.hash);
    const state = place && await slices.stateAt(place).catch(() => -1);
    if (!place || state < 0) return null;
    return () => (location.hash.endsWith("?") && game.isChoice(state) ? play.drillOf([state]) : play.look(state));
  };
  await play.start(await goThere());
  addEventListener("hashchange", async () => {
    const there = await goThere();
    if (there) await there();
    else if (play.seen) await play.back();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (document.getElementById("strategy").hidden === false) strategy.shown();
  });
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  const unpack = () => game.unpack?.(0) && setTimeout(unpack); // the rest, while the page is idle
  setTimeout(unpack);
}

start().catch((error) => {
  fill(document.querySelector("main"), el("p", { class: "warning" }, error.message), button(SAY.goOn, () => location.reload()));
  throw error;
});
