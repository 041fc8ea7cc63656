// One op of the page: its details, and what it became or came from.

/// Shows all of one op, { number, side, node }, and marks what it became or was made from; null for none.
function choose(choice) {
  current.chosen = choice;
  for (const old of document.querySelectorAll(".chosen, .linked")) old.classList.remove("chosen", "linked");
  const panel = page("details");
  panel.hidden = !choice;
  if (!choice) return;
  const row = current.rows[choice.number];
  elementOf(choice)?.classList.add("chosen");
  const others = counterparts(row, choice);
  for (const node of others.nodes) elementOf({ ...choice, side: others.side, node })?.classList.add("linked");
  panel.replaceChildren(...detailsOf(row, choice, others));
}

const elementOf = ({ number, side, node }) =>
  page(`row${number}`)?.querySelector(`.card.${side} [data-node="${node}"]`);

/// The ops of the other side that an op became or was made from.
function counterparts(row, { side, node }) {
  const becomes = current.source.becomes[row.pair];
  if (side === "before") return { side: "after", nodes: becomes[node] >= 0 ? [becomes[node]] : [] };
  return { side: "before", nodes: becomes.flatMap((target, i) => (target === node ? [i] : [])) };
}

function detailsOf(row, { number, side, node }, others) {
  const group = current.groupOf(row, side);
  const kind = current.kindOf(group, side);
  const op = kind.nodes[node];
  const cells = [["source", placeText(group.at[node])]];
  if (op.times !== 1) cells.push(["turns of loops", exact(op.times)]);
  if (op.unknown) cells.push(["not counted", `the cost depends on ${op.unknown}`]);
  else
    cells.push(
      ["reads", amount(op.read, "B", exact)],
      ["writes", amount(op.written, "B", exact)],
      ["computes", amount(op.flops, "flop", exact)],
      ["takes at least", `${exact(op.us)} µs on ${current.source.report.machine}`]
    );
  const otherKind = others.nodes.length && current.kindOf(current.groupOf(row, others.side), others.side);
  if (side === "before" && otherKind) cells.push(["becomes", otherKind.nodes[others.nodes[0]].name]);
  if (side === "after" && others.nodes.length)
    cells.push(["made from", `${plural(others.nodes.length, "op")}, marked on the left`]);
  return [
    make("button", { class: "close", type: "button", "aria-label": "Close", onclick: () => choose(null) }, "×"),
    make("h3", {}, op.name),
    make("p", { class: "soft" }, `${row.title}, ${side} fusion`),
    make("table", {}, ...cells.map(([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, value)))),
    tensorTable("Reads", tensorsInto(row, side, node)),
    tensorTable("Makes", tensorsFrom(row, side, node)),
    ...group.remarks.filter(([at]) => at === node).map(([, remark]) => remarkBox(data.remarks[remark])),
  ];
}

/// Places in the model's own file come without its name.
const placeText = (text) => text.replace(/(^| to )(?=:)/g, `$1${data.title}`) || "unknown";

function remarkBox(remark) {
  return make(
    "div",
    { class: `remark ${remark.kind}` },
    make("b", {}, `${remark.pass}, ${remark.kind}: `),
    remark.text,
    make("div", { class: "soft" }, remark.where)
  );
}

function tensorsInto(row, side, node) {
  const group = current.groupOf(row, side);
  const kind = current.kindOf(group, side);
  const originInside = ({ from }) =>
    kind.nodes[from].input ? group.inputs[from - group.at.length] || "constant" : kind.nodes[from].name;
  return [
    ...kind.edges.filter(({ to }) => to === node).map((edge) => ({ ...edge, origin: originInside(edge) })),
    ...group.in.filter(({ to }) => to === node).map((edge) => ({ ...edge, origin: originOf(edge, side).join(", ") })),
  ];
}

function tensorsFrom(row, side, node) {
  const kind = current.kindOf(current.groupOf(row, side), side);
  const all = [...kind.edges, ...current.source[side].out[row[side]]].filter(({ from }) => from === node);
  return [...new Map(all.map((tensor) => [tensor.name, { ...tensor, origin: tensor.name || "tensor" }])).values()];
}

function tensorTable(title, tensors) {
  if (!tensors.length) return null;
  return make(
    "table",
    {},
    make("caption", {}, title),
    ...tensors.map((tensor) =>
      make(
        "tr",
        {},
        make("td", {}, tensor.origin),
        make("td", {}, plainType(tensor.type)),
        make("td", { class: "number" }, sizeOf(tensor, exact))
      )
    )
  );
}

/// Draws the row of an op and shows it.
function goTo({ number, side, node }) {
  const run = runsOf(current.rows).find(({ first, count }) => number >= first && number < first + count);
  if (run.first !== number) showEach();
  current.opened.add(number);
  drawRow(number);
  choose({ number, side, node });
  const element = elementOf({ number, side, node });
  element?.scrollIntoView({ block: "center", inline: "center" });
}
