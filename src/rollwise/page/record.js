// Games written down, as `rollwise review` and `rollwise play --resume` read them.

// The record of a session that began at the start; `names` are those of the players.
export function written(game, session, names) {
  const clean = names.map((name) => name.replace(/[:;=@#,"]/g, " ").trim().replace(/\s+/g, " ") || "player");
  const players = session.players.map((player, seat) => `${clean[seat]} = ${player ?? "human"}`);
  const headers = { ...game.head.record, players: players.join("; "), seed: session.seed };
  const lines = Object.entries(headers).map(([key, value]) => `@${key} ${value}`);
  let last = -1;
  for (const entry of session.accounts) {
    const move = moveText(game, entry);
    if (entry.seat === last) lines[lines.length - 1] += `, ${move}`;
    else lines.push(`${clean[entry.seat]}: ${move}`);
    last = entry.seat;
  }
  return `${lines.join("\n")}\n`;
}

function moveText(game, { state, place, outcome, faces }) {
  const name = game.names(state)[place].trim().replace(/\s+/g, " ").replaceAll('"', '""');
  const isCertain = game.outcomes(state, place).length === 1 && !faces.length;
  return `"${name}"${isCertain ? "" : faces.length ? ` ${faces.join(" ")}` : ` #${outcome.number + 1}`}`;
}
