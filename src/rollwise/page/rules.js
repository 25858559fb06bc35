// The rules in words, the ways to play, and how sure the numbers are.

import { el, table } from "./dom.js";
import { SAY } from "./strings.js";

export function rulesView({ game, figures }) {
  const { head } = game;
  return el("div", { class: "rules" },
    head.about.map((text) => el("p", {}, coded(text))),
    el("p", {}, SAY.aim(head)),
    head.parameters.length > 0 && [el("h2", {}, SAY.parameters),
      table(SAY.parameters, ["", "", ""], head.parameters.map(({ name, value, about }) => [name, value, coded(about)]))],
    head.policies.some(({ about }) => about) && [el("h2", {}, SAY.policies),
      el("dl", {}, head.policies.filter(({ about }) => about)
        .map(({ name, about }) => [el("dt", {}, name), el("dd", {}, coded(about))]))],
    el("h2", {}, SAY.sure), el("p", {}, SAY.certified(head.bound, figures.points, figures.least)),
    el("p", {}, SAY.fair),
    el("h2", {}, SAY.keys), el("dl", { class: "keys" },
      SAY.keyList(head.has_pool).map(([key, about]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, about)])),
    el("p", { class: "made" }, SAY.madeBy(head.made_by, head.api)));
}

// Text in backticks is code.
function coded(text) {
  return text.split(/`+([^`]*)`+/).map((part, i) => (i % 2 ? el("code", {}, part) : part));
}
