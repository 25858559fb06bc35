// The start page: a card for each game; choose parameters, have the game solved, go on to its pages
// or ask for advice here. On the page of an unsolved game: have it solved, then load the page again.
// Every name is put in as text; answers and advice come as HTML from the server's documents.

import { drawBoard } from "./board.js";
import { button, el, fillSelect, labelled, select } from "./dom.js";

const $ = (id) => document.getElementById(id);
const LOST = "The server doesn't answer. Start it again with `rollwise serve`, then try again. "
  + "A coach page that is open already goes on without it.";
const PAGES = { Play: "page", Report: "report", Pictures: "plot", Table: "table" };
const HIDDEN = "rollwise/solve/hidden"; // the schema of games with hidden dice or simultaneous choices
const HIDDEN_PAGES = ["Play", "Report"];
const BUSY = 503;
const AGAIN = 2000; // milliseconds until the next try at a busy server
let games = [];

async function api(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error(LOST);
  }
  if (answer.status === 204) return null;
  const isHtml = answer.headers.get("content-type").startsWith("text/html");
  const found = isHtml ? await answer.text() : await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error), { status: answer.status });
  return found;
}

const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));

// How far the search is, and how long it may last: by an earlier search, or by the pace of its stage.
const paced = { stage: "", done: 0, seconds: 0 };
function progress({ stage, done, total, seconds, took }) {
  if (stage !== paced.stage) Object.assign(paced, { stage, done, seconds });
  const left = took ? took - seconds : total && done > paced.done ? ((total - done) * (seconds - paced.seconds)) / (done - paced.done) : 0;
  const part = total ? ` ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : done ? ` ${done.toLocaleString("en")}` : "";
  const bar = $("bar");
  bar.hidden = false;
  if (total) [bar.max, bar.value] = [total, done];
  else if (took) [bar.max, bar.value] = [took, Math.min(seconds, took)];
  else bar.removeAttribute("value");
  const about = left > 0.5 ? `; about ${Math.ceil(left)} s left${took ? ", as the last time" : ""}` : "";
  return `Solving: ${stage}${part}, ${Math.round(seconds)} s${about}`;
}

// Have a game solved; `tell` gets each message, and `goes` says whether to go on.
async function solved(wanted, tell, goes = () => true) {
  const body = JSON.stringify(wanted);
  let found = null;
  while (found === null) {
    try {
      begun = api("api/solve", { method: "POST", headers: { "content-type": "application/json" }, body });
      found = await begun;
    } catch (error) {
      if (error.status !== BUSY || !goes()) throw error;
      tell("Other games are being solved. This one is next.");
      await sleep(AGAIN);
    }
  }
  while (found.state === "solving" && goes()) {
    tell(progress(found));
    await sleep(300);
    found = await api(`api/solve?${query(wanted)}`);
  }
  $("bar").hidden = true;
  if (found.state === "failed") throw new Error(found.error);
  return found.solution;
}

function field({ name, among, type, default: usual, about, range }) {
  const words = (type === "bool" ? [true, false] : among).map((word) => [String(word), String(word)]);
  const input = words.length ? select(words) : el("input", { inputmode: type === "int" ? "numeric" : "decimal" });
  input.name = name;
  input.value = usual ?? "";
  return labelled(name.replaceAll("_", " "), input, [about, range].filter(Boolean).join("; "));
}

// The parameters in an address, as pairs of name and value.
const parametersIn = (words) => words.getAll("parameter").map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]);
const gameOf = (name) => games.find((one) => one.game === name);

// Whether a game is shown with its parameters, or the cards of all.
function open(isOpen) {
  $("chosen").hidden = !isOpen;
  $("all").hidden = isOpen;
}

function choose() {
  const game = gameOf($("game").value);
  $("name").textContent = game.heading;
  $("about").textContent = game.description;
  $("parameters").replaceChildren(el("legend", {}, "Parameters"), ...game.parameters.map(field));
  $("parameters").hidden = !game.parameters.length;
  const versions = Object.entries(game.presets);
  const usual = game.parameters.map((one) => [one.name, one.default]);
  $("presets").replaceChildren(...(versions.length ? [["usual", {}], ...versions] : []).map(([name, values]) =>
    button(name, () => fill(Object.entries({ ...Object.fromEntries(usual), ...values })))));
  $("solved").hidden = true;
  $("bar").hidden = true;
  $("status").textContent = "";
  aim();
  open(true);
}

function fill(values) {
  for (const [name, value] of values) {
    const input = [...$("parameters").querySelectorAll("[name]")].find((one) => one.name === name);
    if (input) input.value = value;
  }
  aim();
}

function aim() {
  $("play").href = `page?${query(chosen())}`;
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
    const found = await solved(wanted, (text) => { if (current === wanted) $("status").textContent = text; }, () => current === wanted);
    if (current === wanted) await show(wanted, found);
  } catch (error) {
    if (current === wanted) $("status").textContent = error.message;
  } finally {
    if (current === wanted) $("stop").hidden = true;
  }
}

async function show(wanted, solution) {
  $("status").textContent = "Solved.";
  $("worth").innerHTML = await api(`answer?${query(wanted)}`);
  const isHidden = solution.schema.startsWith(HIDDEN);
  $("links").replaceChildren(...Object.entries(PAGES).filter(([name]) => !isHidden || HIDDEN_PAGES.includes(name)).map(([name, path], i) =>
    el("a", { class: i === 0 ? "button main" : "button", href: `${path}?${query(wanted)}` }, name)));
  const start = Object.entries(solution.start ?? {});
  const text = (value) => (Array.isArray(value) ? `(${value.join(",")})` : value);
  $("state").value = start.map(([name, value]) => `${name}=${text(value)}`).join(",");
  $("throw").value = "";
  $("advice").replaceChildren();
  $("fault").textContent = "";
  $("solved").querySelector("details").hidden = isHidden;
  $("solved").hidden = false;
}

async function ask(event) {
  event.preventDefault();
  const more = { state: $("state").value };
  if ($("throw").value) more.throw = $("throw").value;
  try {
    $("advice").innerHTML = await api(`advice?${query(current, more)}`);
    $("fault").textContent = "";
  } catch (error) {
    $("fault").textContent = error.message;
  }
}

// The address holds the game and its parameters; without them all games are shown.
async function restore() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!gameOf(words.get("game"))) {
    open(false);
    return;
  }
  $("game").value = words.get("game");
  choose();
  fill(parametersIn(words));
  const wanted = chosen();
  try {
    const found = await api(`api/solve?${query(wanted)}`);
    if (found.state !== "solved") return;
    current = wanted;
    await show(wanted, found.solution);
  } catch {
    // it isn't solved any more
  }
}

// The start of a game, drawn as on its page.
async function drawStart(place, words) {
  const { players = 2, boards: [{ cells }] } = await api(`api/start?${words}`);
  const rows = cells.map((row) => row.map(([kind, text, ...numbers]) => ({ kind, text, numbers })));
  const look = { turns: 0, players, colour: (k) => `p${k}`, isSecond: (k) => k > 0, name: (k) => (k ? "Opponent" : "You") };
  place.className = "place small";
  place.replaceChildren(drawBoard(rows, "The start", look));
}

// Cards are drawn as they come into view.
const shows = new Map();
const seen = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach(({ target }) => {
  seen.unobserve(target);
  drawStart(target, shows.get(target)).catch(() => target.remove());
}), { rootMargin: "400px" });

function card(game) {
  const picture = el("div");
  const address = (values) => query({ game: game.game, parameters: values });
  const players = { 1: "one player", 2: "two players", 3: "three players", 4: "four players" }[game.players] ?? `${game.players} players`;
  const link = (text, href, label, style = "button") => el("a", { class: style, href, "aria-label": label }, text);
  const tools = el("p", { class: "tools" }, link("Play", `page?${address({})}`, `Play ${game.heading}`, "button main"),
    Object.entries(game.presets).map(([name, values]) => link(name, `page?${address(values)}`, `Play ${game.heading}, ${name}`)),
    link("Rules and answers", `#${address({})}`, `Rules and answers of ${game.heading}`));
  const values = new Map(game.parameters.map((one) => [one.name, String(one.default)]));
  const about = game.description.replace(/`(\w+)`/g, (_, name) => values.get(name) ?? name);
  const made = el("li", {}, el("h3", {}, game.heading), picture, el("p", {}, about), el("p", { class: "dim" }, players), tools);
  seen.observe(picture);
  shows.set(picture, `game=${game.game}`);
  made.dataset.text = `${game.heading} ${game.game} ${game.description} ${players}`.toLowerCase();
  return made;
}

function filter() {
  const text = $("filter").value.toLowerCase();
  for (const one of document.querySelectorAll(".games li")) one.hidden = !one.dataset.text.includes(text);
}

// On the page of an unsolved game.
async function wait() {
  const words = new URLSearchParams($("wait").dataset.game);
  $("again").hidden = true;
  drawStart($("start"), words).catch(() => {});
  try {
    await solved({ game: words.get("game"), parameters: Object.fromEntries(parametersIn(words)) }, (text) => { $("wait").textContent = text; });
    location.reload(); // with the position in its address
  } catch (error) {
    $("wait").textContent = error.message;
    $("bar").hidden = true;
    $("again").hidden = false;
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

async function start() {
  $("game").addEventListener("change", choose);
  $("parameters").addEventListener("input", aim);
  $("choice").addEventListener("submit", solve);
  $("ask").addEventListener("submit", ask);
  $("stop").addEventListener("click", stop);
  $("filter").addEventListener("input", filter);
  addEventListener("hashchange", restore);
  try {
    games = (await api("api/games")).games;
    fillSelect($("game"), games.map((game) => [game.game, game.heading]));
    const { own, faults } = await api("api/sheets");
    for (const game of games) $(own.includes(game.game) ? "own" : "gallery").querySelector("ul").append(card(game));
    for (const place of ["own", "gallery"]) $(place).hidden = !$(place).querySelector("li");
    const wrong = Object.entries(faults);
    $("faults").append(...wrong.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
    $("faulty").hidden = !wrong.length;
    await restore();
  } catch (error) {
    open(true);
    $("status").textContent = error.message;
  }
  document.documentElement.dataset.ready = "yes";
}

if ($("wait")) {
  $("again").addEventListener("click", wait);
  wait();
} else start();
