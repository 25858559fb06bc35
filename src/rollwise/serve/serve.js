// The start page: choose a game and its parameters, have it solved, go on to its pages or ask for
// advice here. Every name is put in as text.

const $ = (id) => document.getElementById(id);
const LOST = "The server doesn't answer. Start it again with `rollwise serve`, then try again. "
  + "A coach page that is open already goes on without it.";
const PAGES = { Play: "page", Report: "report", Picture: "plot", Table: "table" };
let games = [];

function element(tag, text = "", given = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  return made;
}

async function api(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error(LOST);
  }
  if (answer.status === 204) return null;
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function field(parameter, i) {
  let input;
  const seats = parameter.name === "players" ? [1, 2].filter((n) => n >= parameter.default) : [];
  const words = seats.length ? seats : parameter.among;
  if (words.length || parameter.type === "bool") {
    input = element("select");
    for (const word of words.length ? words : [true, false]) {
      input.append(element("option", String(word)));
    }
  } else {
    input = element("input", "", { inputmode: parameter.type === "int" ? "numeric" : "decimal" });
  }
  input.name = parameter.name;
  input.id = `parameter-${i}`;
  input.value = parameter.default ?? "";
  const control = element("div", "", { class: "control" });
  control.append(element("label", parameter.name, { for: input.id }), input,
    element("small", [parameter.about, seats.length ? "" : parameter.range].filter(Boolean).join("; ")));
  return control;
}

const gameOf = (name) => games.find((one) => one.game === name);

function choose() {
  const game = gameOf($("game").value);
  $("about").textContent = game.description;
  $("parameters").replaceChildren(element("legend", "Parameters"), ...game.parameters.map(field));
  $("parameters").hidden = !game.parameters.length;
  $("solved").hidden = true;
  $("status").textContent = "";
}

function chosen() {
  const inputs = [...$("parameters").querySelectorAll("[name]")];
  return { game: $("game").value, parameters: Object.fromEntries(inputs.map((x) => [x.name, x.value])) };
}

function query(wanted, more = {}) {
  const words = new URLSearchParams({ game: wanted.game, ...more });
  for (const [name, value] of Object.entries(wanted.parameters)) words.append("parameter", `${name}=${value}`);
  return words.toString();
}

let current = null;
let begun = null; // the server's answer to this page: a key for stopping the current game

async function solve(event) {
  event.preventDefault();
  const wanted = chosen();
  current = wanted;
  history.replaceState(null, "", `#${query(wanted)}`);
  $("solved").hidden = true;
  $("stop").hidden = false;
  try {
    begun = api("api/solve", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(wanted),
    });
    let found = await begun;
    while (found.state === "solving" && current === wanted) {
      const part = found.total ? ` ${found.done} of ${found.total}` : found.done ? ` ${found.done}` : "";
      $("status").textContent = `${found.stage}${part}, ${Math.round(found.seconds)} s`;
      await new Promise((wake) => setTimeout(wake, 300));
      found = await api(`api/solve?${query(wanted)}`);
    }
    if (current !== wanted) return;
    if (found.state === "failed") throw new Error(found.error);
    show(wanted, found.solution);
  } catch (error) {
    if (current === wanted) $("status").textContent = error.message;
  } finally {
    if (current === wanted) $("stop").hidden = true;
  }
}

// The value of the game to the first player, in words.
function worth(game, { value, win_probability: chance, error_bound: bound, states, ...more }) {
  const count = `${states.toLocaleString("en")} positions.`;
  if (more.win_probabilities) { // of three or more players
    const chances = more.win_probabilities.map((one) => (100 * one).toFixed(4)).join(", ");
    return `By the equilibrium the players win ${chances} %, in the order of their moves (certified ± ${(100 * bound).toPrecision(2)} %). ${count}`;
  }
  if (more.payoffs) return `By the equilibrium the players expect ${more.payoffs.map((one) => one.toFixed(4)).join(", ")} (certified ± ${bound.toPrecision(2)}). ${count}`;
  const isChance = chance !== null && chance !== undefined;
  const of = game.players === 1 ? "Best play" : "The first player";
  const text = isChance ? `${of} wins ${(100 * chance).toFixed(4)} %` : `${of} expects ${value.toFixed(4)}`;
  const most = (isChance ? 50 : 1) * bound;
  const sure = most < 5e-5 ? "certified to all digits" : `certified ± ${most.toPrecision(2)}${isChance ? " %" : ""}`;
  return `${text} (${sure}). ${count}`;
}

function show(wanted, solution) {
  const game = gameOf(wanted.game);
  $("status").textContent = "Solved.";
  $("name").textContent = game.heading;
  $("worth").textContent = worth(game, solution);
  $("links").replaceChildren(...Object.entries(PAGES).map(([name, path], i) =>
    element("a", name, { class: i === 0 ? "button main" : "button", href: `${path}?${query(wanted)}` })));
  const start = Object.entries(solution.start ?? {});
  const text = (value) => (Array.isArray(value) ? `(${value.join(",")})` : value);
  $("state").value = start.map(([name, value]) => `${name}=${text(value)}`).join(",");
  $("throw").value = "";
  $("advice").replaceChildren();
  $("scroll").hidden = true;
  $("fault").textContent = "";
  $("solved").hidden = false;
}

const shown = (value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(8)) : value);

async function ask(event) {
  event.preventDefault();
  const more = { state: $("state").value };
  if ($("throw").value) more.throw = $("throw").value;
  try {
    const found = await api(`api/advise?${query(current, more)}`);
    const rows = found.actions ?? found.throws;
    const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== null));
    const line = (cells, of) => {
      const row = element("tr");
      row.append(...cells.map((cell, i) => element(...of(String(cell), i))));
      return row;
    };
    const head = line(names.map((name) => name.replaceAll("_", " ")), (text) => ["th", text, { scope: "col" }]);
    const body = rows.map((row) => line(names.map((name) => shown(row[name])),
      (text, i) => (i ? ["td", text] : ["th", text, { scope: "row" }])));
    $("advice").replaceChildren(head, ...body);
    $("scroll").hidden = false;
    $("fault").textContent = "";
  } catch (error) {
    $("fault").textContent = error.message;
  }
}

// The address holds the game and its parameters, and the page of a link to an unsolved game.
async function restore() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!gameOf(words.get("game"))) return;
  $("game").value = words.get("game");
  choose();
  for (const text of words.getAll("parameter")) {
    const at = text.indexOf("=");
    const input = [...$("parameters").querySelectorAll("[name]")].find((one) => one.name === text.slice(0, at));
    if (input) input.value = text.slice(at + 1);
  }
  const wanted = chosen();
  const then = words.get("then");
  if (Object.values(PAGES).includes(then)) {
    await solve(new Event("submit"));
    if (!$("solved").hidden) location.replace(`${then}?${query(wanted)}`);
    return;
  }
  try {
    const found = await api(`api/solve?${query(wanted)}`);
    if (found.state !== "solved") return;
    current = wanted;
    show(wanted, found.solution);
  } catch {
    // it isn't solved any more
  }
}

async function stop() {
  const wanted = current;
  current = null;
  $("stop").hidden = true;
  $("status").textContent = "Stopped.";
  try {
    const { key } = await begun;
    await api(`api/solve?${query(wanted, key ? { key } : {})}`, { method: "DELETE" });
  } catch (error) {
    $("status").textContent = error.message;
  }
}

$("game").addEventListener("change", choose);
$("choice").addEventListener("submit", solve);
$("ask").addEventListener("submit", ask);
$("stop").addEventListener("click", stop);
try {
  games = (await api("api/games")).games;
  $("game").append(...games.map((game) => {
    const option = element("option", game.heading);
    option.value = game.game;
    return option;
  }));
  choose();
  const faults = Object.entries(await api("api/faults"));
  $("faults").append(...faults.flatMap(([name, text]) => [element("dt", name), element("dd", text)]));
  $("faulty").hidden = !faults.length;
  await restore();
} catch (error) {
  $("status").textContent = error.message;
}
document.documentElement.dataset.ready = "yes";
