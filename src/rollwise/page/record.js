// Games kept as JSON lines, as `rollwise review` and `rollwise play --resume` read them (docs/records.md).

// The record of a session from the start; `names` are those of the players.
export function recordOf(game, session, names) {
  const clean = (name) => name.replace(/[:;=@#,"]/g, " ").trim().replace(/\s+/g, " ") || "player";
  const players = session.players.map((player, seat) => ({ name: clean(names[seat]), policy: player ?? "human" }));
  const result = session.isOver ? session.ledger(0).result : null;
  const moves = session.accounts.map((entry) => moveOf(game, entry));
  return { ...game.head.record, players, seed: session.seed, result, moves };
}

function moveOf(game, { seat, state, place, outcome, faces }) {
  const move = { player: seat, action: game.actions(state)[place].trim().replace(/\s+/g, " ") };
  if (faces.length) return { ...move, shows: faces };
  return game.outcomes(state, place).length === 1 ? move : { ...move, outcome: outcome.number + 1 };
}
