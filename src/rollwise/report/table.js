// A table with a search by its fields: a number in a field keeps the rows with it.
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
  const inputs = t.fields.map((name) => {
    const label = make("label", form, name + " ");
    const input = make("input", label);
    input.type = "number";
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

  const range = (low, high, unit) => (low === high ? `${low}${unit}` : `${low} to ${high}${unit}`);

  // A column for each field would be wider than a telephone; of many fields most are 0.
  const position = (i) => t.fields
    .map((name, f) => [name, t.columns[f][i], f === t.ranged ? t.upto[i] : t.columns[f][i]])
    .filter(([, low, high]) => t.fields.length <= 4 || low !== 0 || high !== 0)
    .map(([name, low, high]) => `${name} ${range(low, high, "")}`)
    .join(", ") || "all fields 0";

  function show() {
    const wanted = inputs.map((e) => (e.value === "" ? null : Number(e.value)));
    const action = Number(select.value);
    body.replaceChildren();
    let found = 0;
    for (let i = 0; i < n; i++) {
      if (action >= 0 && t.action[i] !== action) continue;
      let fits = true;
      for (let f = 0; f < wanted.length && fits; f++) {
        const v = wanted[f];
        if (v === null) continue;
        const low = t.columns[f][i];
        fits = f === t.ranged ? low <= v && v <= t.upto[i] : low === v;
      }
      if (!fits) continue;
      if (++found > limit) continue;
      const row = make("tr", body);
      make("td", row, position(i)).className = "text";
      make("td", row, t.actions[t.action[i]]).className = "act";
      make("td", row, t.to.length ? range(t.from[i], t.to[i], t.unit) : t.from[i] + t.unit);
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
