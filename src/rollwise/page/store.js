// Games on this device, under the hash of the rules; and addresses of positions.

import { Session } from "./session.js";

const MOST_GAMES = 100; // of a series

const keyOf = ({ head }) => `rollwise ${head.record?.rules ?? head.title}`;

// A session as plain numbers; `session` makes it again from them.
export function packed(session, more) {
  const moves = session.accounts.map(({ place, outcome, faces }) => [place, outcome.number, faces]);
  const { game, seed, players, from } = session;
  return { ...more, seed, players, from: game.head.is_open ? game.known[from].place : from, moves };
}

export async function unpacked(game, { seed, players, from, moves }) {
  const session = new Session(game, players, { seed, from: game.head.is_open ? game.number(from) : from });
  for (const [place, number, faces] of moves) {
    await game.ready(session.state, place);
    session.choose(place);
    session.fall(number, faces);
  }
  return session;
}

// Keep the state of a page. A browser may refuse; then a reload begins anew.
export function keep(game, { current, games }) {
  try {
    localStorage.setItem(keyOf(game), JSON.stringify({ current, games: games.slice(-MOST_GAMES) }));
  } catch { /* no storage, or a full one */ }
}

export function kept(game) {
  try {
    return JSON.parse(localStorage.getItem(keyOf(game)));
  } catch {
    return null;
  }
}

// The address of a state: its fields, its throw, and the rolls left. With a question mark the page asks
// for the best choice there.
export function addressOf({ at, thrown, left }) {
  return `#${[at.join(","), thrown ? thrown.join(",") : "", left ?? ""].join(";").replace(/;+$/, "")}`;
}

export function placeAt(hash) {
  if (!/^#[-\d,;]+\??$/.test(hash)) return null;
  const [at, thrown, left] = hash.slice(1).replace("?", "").split(";").map((part) => (part ? part.split(",").map(Number) : null));
  return at && { at, thrown: thrown ?? null, left: left ? left[0] : null };
}
