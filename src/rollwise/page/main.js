// The page: reads what `loader.js` unpacked of the game, and shows its parts.

import { opened } from "./bytes.js";
import { button, el, fill, show } from "./dom.js";
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
import { tabs } from "./tabs.js";

async function start() {
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
  const rules = { element: rulesView(game.head, { aim: [SAY.aim(game.head)], keys: SAY.keyList(game.head.has_pool),
    sure: [SAY.certified(game.head.bound, figures.points, figures.least), SAY.fair] }) };
  const { side, open } = tabs({ coach: play.coachView, moves: play.movesView, strategy, rules });
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
  const unpack = () => game.unpack?.(0) && setTimeout(unpack); // the rest, while the page is idle
  setTimeout(unpack);
}

show(start, button(SAY.goOn, () => location.reload()));
