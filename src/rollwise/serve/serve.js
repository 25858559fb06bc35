// The start page: choose a game and its parameters, have it solved, go on to its pages or ask for
// advice here. Every name is put in as text.

const $ = (id) => document.getElementById(id);
const LOST = "The server doesn't answer. Start it again with `rollwise serve`, then try again. "
  + "A coach page that is open already goes on without it.";
let games = [];

function element(tag, text = "") {
  const made = document.createElement(tag);
  made.textContent = text;
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

function field(parameter) {
  let input;
  if (parameter.among.length || parameter.type === "bool") {
    input = element("select");
    for (const word of parameter.among.length ? parameter.among : [true, false]) {
      input.append(element("option", String(word)));
    }
  } else {
    input = element("input");
    input.inputMode = parameter.type === "int" ? "numeric" : "decimal";
  }
  input.name = parameter.name;
  input.value = parameter.default ?? "";
  const label = element("label", `${parameter.name} `);
  label.append(input, element("small", ` ${[parameter.about, parameter.range].filter(Boolean).join("; ")}`));
  return label;
}

function choose() {
  const game = games.find((one) => one.game === $("game").value);
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

async function solve(event) {
  event.preventDefault();
  const wanted = chosen();
  current = wanted;
  $("solved").hidden = true;
  $("stop").hidden = false;
  try {
    let found = await api("api/solve", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(wanted),
    });
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

function show(wanted, solution) {
  $("status").textContent = `Value ${solution.value}, off by at most ${solution.error_bound}; ${solution.states} states.`;
  const pages = { Play: "page", Report: "report", Picture: "plot", Table: "api/table" };
  $("links").replaceChildren();
  for (const [name, path] of Object.entries(pages)) {
    const link = element("a", name);
    link.href = `${path}?${query(wanted)}`;
    $("links").append(link, " ");
  }
  const start = Object.entries(solution.start ?? {});
  const text = (value) => (Array.isArray(value) ? `(${value.join(",")})` : value);
  $("state").value = start.map(([name, value]) => `${name}=${text(value)}`).join(",");
  $("throw").value = "";
  $("advice").replaceChildren();
  $("solved").hidden = false;
}

async function ask(event) {
  event.preventDefault();
  const more = { state: $("state").value };
  if ($("throw").value) more.throw = $("throw").value;
  try {
    const found = await api(`api/advise?${query(current, more)}`);
    const rows = found.actions ?? found.throws;
    const names = Object.keys(rows[0] ?? {});
    const line = (tag, cells) => {
      const row = element("tr");
      row.append(...cells.map((cell) => element(tag, String(cell))));
      return row;
    };
    $("advice").replaceChildren(line("th", names), ...rows.map((row) => line("td", names.map((name) => row[name]))));
    $("status").textContent = "";
  } catch (error) {
    $("status").textContent = error.message;
  }
}

async function stop() {
  const wanted = current;
  current = null;
  $("stop").hidden = true;
  $("status").textContent = "Stopped.";
  await api(`api/solve?${query(wanted)}`, { method: "DELETE" }).catch((error) => {
    $("status").textContent = error.message;
  });
}

$("game").addEventListener("change", choose);
$("choice").addEventListener("submit", solve);
$("ask").addEventListener("submit", ask);
$("stop").addEventListener("click", stop);
try {
  games = (await api("api/games")).games;
  $("game").append(...games.map((game) => element("option", game.game)));
  choose();
} catch (error) {
  $("status").textContent = error.message;
}
document.documentElement.dataset.ready = "yes";
