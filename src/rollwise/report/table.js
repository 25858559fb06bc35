// A table with a search by its fields: a number in a field keeps the rows with it. A set is looked
// for by some of its members.
function rollwiseTable(id, t) {
  const place = document.getElementById(id);
  const make = (tag, parent, text) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    parent.appendChild(e);
    return e;
  };
  const form = make("div", place);
  form.className = "search";
  const isCoded = t.texts.map((texts) => Object.keys(texts).length > 0);
  const shown = (f, number) => t.texts[f][number] ?? String(number);
  const words = (text) => text.split(/[\s,]+/).filter(Boolean);
  const inputs = t.fields.map((name, f) => {
    const label = make("label", form, name + " ");
    const input = make("input", label);
    input.type = isCoded[f] ? "text" : "number";
    input.setAttribute("aria-label", name);
    return input;
  });
  const label = make("label", form, "do ");
  const select = make("select", label);
  make("option", select, "anything").value = "-1";
  t.actions.forEach((name, i) => { make("option", select, name).value = String(i); });
  const said = make("p", place);
  said.setAttribute("aria-live", "polite");
  const box = make("div", place);
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "best moves, position by position");
  const table = make("table", box);
  const head = make("tr", make("thead", table));
  const titles = ["position", "best move", t.value];
  if (t.cost.length) titles.push(`a mistake costs (${t.unit === "" ? "points" : "percentage points"})`);
  titles.forEach((name, i) => {
    const cell = make("th", head, name);
    cell.scope = "col";
    if (i < 2) cell.className = "text";
  });
  const body = make("tbody", table);
  const more = make("button", place, "Show more");
  const n = t.action.length;
  let limit = 50;

  const fitsIn = (f, i, asked) => {
    if (isCoded[f]) {
      const held = words(shown(f, t.columns[f][i]));
      return words(asked).every((word) => held.includes(word));
    }
    const low = t.columns[f][i];
    return low <= Number(asked) && Number(asked) <= (f === t.ranged ? t.upto[i] : low);
  };
  const range = (low, high, unit) => (low === high ? `${low}${unit}` : `${low} to ${high}${unit}`);

  // A column for each field would be wider than a telephone; of many fields most are 0.
  const position = (i) => t.fields
    .map((name, f) => [name, t.columns[f][i], f === t.ranged ? t.upto[i] : t.columns[f][i], f])
    .filter(([, low, high]) => t.fields.length <= 4 || low !== 0 || high !== 0)
    .map(([name, low, high, f]) => `${name} ${range(shown(f, low), shown(f, high), "")}`)
    .join(", ") || "all fields 0";

  function show() {
    const action = Number(select.value);
    body.replaceChildren();
    let found = 0;
    for (let i = 0; i < n; i++) {
      if (action >= 0 && t.action[i] !== action) continue;
      if (!inputs.every((e, f) => e.value.trim() === "" || fitsIn(f, i, e.value))) continue;
      if (++found > limit) continue;
      const row = make("tr", body);
      make("td", row, position(i)).className = "text";
      make("td", row, t.actions[t.action[i]]).className = "act";
      const low = t.from[i];
      make("td", row, low === null ? "" : range(low, t.to.length ? t.to[i] : low, t.unit));
      if (t.cost.length) make("td", row, String(t.cost[i]));
    }
    said.textContent = found === 0 ? "No row fits."
      : `${Math.min(found, limit).toLocaleString()} of ${found.toLocaleString()} rows`;
    more.hidden = found <= limit;
  }

  for (const e of [...inputs, select]) e.addEventListener("input", () => { limit = 50; show(); });
  more.addEventListener("click", () => { limit += 200; show(); });
  show();
}
