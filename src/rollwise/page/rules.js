// The rules in words, the ways to play, and how sure the numbers are.

import { el, table } from "./dom.js";
import { SAY } from "./strings.js";

// `sure` and `keys` are the page's own texts.
export function rulesView({ about, parameters, policies, made_by: madeBy, api }, { aim = [], sure, keys }) {
  return el("div", { class: "rules" },
    about.map((text) => el("p", {}, coded(text))),
    aim.map((text) => el("p", {}, text)),
    parameters.length > 0 && [el("h2", {}, SAY.parameters),
      table(SAY.parameters, ["", "", ""], parameters.map((one) => [one.name, one.value, coded(one.about)]))],
    policies.some((one) => one.about) && [el("h2", {}, SAY.policies),
      el("dl", {}, policies.filter((one) => one.about)
        .map((one) => [el("dt", {}, one.name), el("dd", {}, coded(one.about))]))],
    el("h2", {}, SAY.sure), sure.map((text) => el("p", {}, text)),
    el("h2", {}, SAY.keys), el("dl", { class: "keys" },
      keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("p", { class: "made" }, SAY.madeBy(madeBy, api)));
}

// Text in backticks is code.
function coded(text) {
  return text.split(/`+([^`]*)`+/).map((part, i) => (i % 2 ? el("code", {}, part) : part));
}
