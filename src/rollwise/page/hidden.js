// Play against the strategy of the page. A memory is the last sequence of each player.
const table = document.getElementById("table");
let seat = 0, game = null;

const make = (tag, text, parent) => {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
};
const draw = (weights) => {
  let left = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(0, weights.findIndex((weight) => (left -= weight) < 0));
};
const position = () => DATA.positions[game.place];
const choosers = () => (position().menus.length > 1 ? [[game.mover, 0], [1 - game.mover, 1]] : [[game.mover, 0]]);
const situation = (player, side) =>
  DATA.hidden ? DATA.sets[player][`${game.memory[player]},${position().sight}`] : DATA.sets[side][game.place];

const step = (choice) => {
  const [reward, outcomes] = position().choices[choice];
  const sign = 1 - 2 * game.mover;
  const [, payoff, target, turn] = outcomes[draw(outcomes.map((outcome) => outcome[0]))];
  game.payoff += sign * (reward + payoff);
  game.last = position().all;
  if (target < 0) game.over = true;
  else [game.place, game.mover] = [target, game.mover ^ turn];
};
const deal = () => {
  while (!game.over && position().kind === 0) step(0);
};
const act = (mine) => {
  const who = choosers();
  const indices = who.map(([player, side]) => (player === seat ? mine : draw(situation(player, side)[1])));
  if (who.length > 1) {
    const theirs = who.findIndex(([player]) => player !== seat);
    game.told.push(`The opponent plays ${position().menus[theirs][indices[theirs]]}.`);
  }
  who.forEach(([player, side], k) => {
    if (DATA.hidden) game.memory[player] = situation(player, side)[0] + indices[k];
  });
  step(indices.length > 1 ? indices[0] * position().menus[1].length + indices[1] : indices[0]);
  deal();
};
const play = () => {
  while (!game.over && !choosers().some(([player]) => player === seat)) act(0);
  show();
};
const begin = () => {
  game = { place: 0, mover: 0, memory: [0, 0], payoff: 0, over: false, told: [], cost: 0, last: "" };
  deal();
  play();
};
const choose = (index, values) => {
  const known = values.filter((value) => value !== null);
  const cost = known.length ? Math.max(...known) - values[index] : 0;
  game.cost += cost;
  game.told.push(cost > 1e-6 ? `Your choice cost ${cost.toFixed(4)} against the strategy of the page.` : "Your choice cost nothing.");
  act(index);
  play();
};
const show = () => {
  table.replaceChildren();
  const news = make("div", "", table);
  news.setAttribute("aria-live", "polite");
  game.told.slice(-2).forEach((line) => make("p", line, news));
  const controls = document.createElement("div");
  controls.className = "controls";
  if (game.over) {
    const payoff = game.payoff * (1 - 2 * seat);
    make("h2", payoff > 0 ? "You win" : payoff < 0 ? "You lose" : "A draw", news);
    make("p", `Payoff ${payoff}. The last position, of its mover: ${game.last}. Your choices cost ${game.cost.toFixed(4)}.`, news);
    ["Play first", "Play second"].forEach((text, k) => {
      make("button", text, controls).onclick = () => {
        seat = k;
        begin();
      };
    });
    table.append(controls);
    controls.firstChild.focus();
    return;
  }
  const [player, side] = choosers().find(([who]) => who === seat);
  const [, shares, values] = situation(player, side);
  const who = side ? "You are the other player. The mover sees" : "You see";
  const fields = Object.entries(position().sees).map(([name, x]) => `${name} ${[].concat(x).join(" ")}`);
  const told = position().told;
  make("h2", told ? told[0].toUpperCase() + told.slice(1) : `${who} ${fields.join(", ")}`, news);
  position().menus[side].forEach((name, index) => {
    make("button", name, controls).onclick = () => choose(index, values);
  });
  table.append(controls);
  const coach = document.createElement("details");
  make("summary", "Coach", coach);
  shares.forEach((share, index) => {
    const value = values[index] === null ? "" : `, payoff ${values[index].toFixed(4)}`;
    make("p", `${position().menus[side][index]}: ${(100 * share).toFixed(2)} %${value}`, coach);
  });
  table.append(coach);
};
begin();
document.documentElement.dataset.ready = "yes";
