// Draws one group as a graph.

/// The vertices of a group, and the links between them: its nodes, what comes from outside, and where tensors go to.
function verticesOf(row, side) {
  const group = current.groupOf(row, side);
  const kind = current.kindOf(group, side);
  const shape = { vertices: [], links: new Map(), outside: new Map() };
  addNodes(shape, kind, group);
  for (const edge of kind.edges) link(shape, edge.from, edge.to, edge);
  for (const tensor of group.in) {
    const key = tensor.group === undefined ? `argument ${tensor.argument}` : `${tensor.group} ${tensor.from}`;
    link(shape, addOutside(shape, key, originOf(tensor, side), true), tensor.to, tensor);
  }
  for (const tensor of current.source[side].out[row[side]]) {
    const target = tensor.result === undefined ? titleOf(side, tensor.reader) : tensor.result || "result";
    link(shape, tensor.from, addOutside(shape, `to ${tensor.from}`, [`to ${target}`], false), tensor);
  }
  shape.vertices.forEach(measure);
  const links = [...shape.links.values()];
  delayWeights(shape.vertices, links);
  return { vertices: shape.vertices, links };
}

/// Draws values computed from weights alone where they are read, like the weights.
function delayWeights(vertices, links) {
  const sources = vertices.map(() => []);
  for (const { from, to } of links) sources[to].push(vertices[from]);
  vertices.forEach((vertex, index) => {
    if (sources[index].length) vertex.late = sources[index].every(({ type, late }) => late && type !== "outside");
  });
}

function addNodes({ vertices }, kind, group) {
  const missed = new Set(missedIn(group));
  const names = [...group.inputs];
  kind.nodes.forEach((node, index) => {
    const title = node.input ? names.shift() || node.input : node.name;
    const type = node.input ? "input" : missed.has(index) ? "missed" : node.kernel ? "kernel" : "op";
    const text = node.input ? [shortName(title)] : opText(node);
    vertices.push({ node: index, type, text, title, late: Boolean(node.input), labels: new Map() });
  });
}

/// One vertex for all that comes from, or goes to, the same place outside of a group.
function addOutside({ vertices, outside }, key, text, late) {
  if (!outside.has(key)) {
    const title = text.join(", ");
    vertices.push({ type: "outside", text: text.map((line) => shortName(line)), title, late, labels: new Map() });
    outside.set(key, vertices.length - 1);
  }
  return outside.get(key);
}

/// Tensors are labelled where they are made.
function link({ vertices, links }, from, to, tensor) {
  vertices[from].labels.set(tensor.name, tensorLabel(tensor));
  links.set(`${from} ${to}`, { from, to });
}

function opText(node) {
  const name = node.name + (node.times !== 1 ? ` × ${exact(node.times)}` : "");
  if (node.unknown) return [name, "not counted:", `depends on ${node.unknown}`];
  return [name, amount(bytesOf(node), "B"), flopText(node)].filter(Boolean);
}

const tensorLabel = (tensor) =>
  [tensor.name, tensor.unknown ? "?" : amount(tensor.bytes, "B")].filter(Boolean).join(" ");

/// The op that makes an incoming tensor, and its place.
function originOf(tensor, side) {
  const picture = current.source[side];
  if (tensor.argument !== undefined) return [picture.arguments[tensor.argument] || "argument", "argument"];
  const maker = picture.kinds[picture.groups[tensor.group].kind].nodes[tensor.from];
  return [maker.name ?? "argument", titleOf(side, tensor.group)];
}

const titleOf = (side, group) => current.rows.find((row) => row[side] === group).title;

const widthOf = (text, size) => text.length * size * 0.58;

function measure(vertex) {
  const labels = [...vertex.labels.values()];
  const widest = Math.max(widthOf(vertex.text[0], 13), ...vertex.text.slice(1).map((line) => widthOf(line, 11)));
  const label = Math.max(0, ...labels.map((line) => widthOf(line, 11)));
  vertex.labels = labels;
  vertex.box = Math.round(Math.max(72, widest + (vertex.type === "missed" ? 40 : 20)));
  vertex.width = Math.max(vertex.box, 2 * (label + 5));
  vertex.height = 9 + 14.5 * vertex.text.length;
  vertex.labelHeight = 13 * labels.length + (labels.length ? 3 : 0);
}

function drawRow(number) {
  const element = page(`row${number}`);
  if (!element) return;
  const row = current.rows[number];
  element.querySelector(".toggle").setAttribute("aria-expanded", "true");
  for (const side of kSides) {
    const card = element.querySelector(`.card.${side}`);
    if (current.groupOf(row, side) && !card.querySelector(".drawing")) card.append(makeDrawing(row, number, side));
  }
}

function makeDrawing(row, number, side) {
  const kind = current.kindOf(current.groupOf(row, side), side);
  if (kind.nodes.length > kMostDrawn) return makeOpTable(kind);
  const { vertices, links } = verticesOf(row, side);
  const { width, height, at, segments } = layoutGraph(vertices, links);
  const viewBox = `0 0 ${width} ${height}`;
  const svg = draw("svg", { width, height, viewBox, role: "group", "aria-label": `${row.title} ${side}` });
  const tip = `tip${number}${side}`;
  svg.append(
    draw("marker", { id: tip, viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      draw("path", { class: "tip", d: "M0,1L8,4L0,7z" }))
  );
  for (const { from, to, path } of segments)
    svg.append(draw("path", { class: "edge", d: path, "data-from": from, "data-to": to ?? undefined,
      "marker-end": to === null ? undefined : `url(#${tip})` }));
  vertices.forEach((vertex, index) => svg.append(drawVertex(vertex, index, at[index], { number, side, links })));
  return make("div", { class: "drawing", style: `--least:${Math.round(kLeastScale * width)}px` }, svg);
}

function drawVertex(vertex, index, { x, y }, place) {
  const { type, text, box, height, labels } = vertex;
  const isOp = vertex.node !== undefined && type !== "input";
  const g = draw(
    "g",
    {
      class: `node ${type}`,
      "data-vertex": index,
      "data-node": isOp ? vertex.node : undefined,
      tabindex: isOp ? 0 : undefined,
      role: isOp ? "button" : undefined,
      "aria-label": isOp ? text.join(", ") : undefined,
      onclick: isOp ? () => choose({ ...place, node: vertex.node }) : undefined,
      onkeydown: isOp ? (event) => walk(event, index, place) : undefined,
      onmouseenter: (event) => light(event.currentTarget, index, true),
      onmouseleave: (event) => light(event.currentTarget, index, false),
    },
    draw("title", {}, vertex.title || "tensor"),
    draw("rect", { class: "box", x: x - box / 2, y, width: box, height, rx: isOp ? 6 : 12 })
  );
  text.forEach((line, i) => {
    g.append(draw("text", { class: i ? "sub" : isOp ? "name" : "", x, y: y + 16 + 14.5 * i }, line));
  });
  labels.forEach((line, i) =>
    g.append(draw("text", { class: "label", x: x + 5, y: y + height + 12 + 13 * i, style: "text-anchor:start" }, line))
  );
  if (type === "missed") g.append(draw("text", { class: "warn", x: x + box / 2 - 9, y: y + 16 }, "!"));
  return g;
}

/// More ops than anybody would look at one by one.
function makeOpTable(kind) {
  const rows = new Map();
  for (const node of kind.nodes) {
    if (node.input) continue;
    const row = rows.get(node.name) ?? { count: 0, bytes: [0, 0], flops: [0, 0] };
    row.count++;
    row.bytes = sum(row.bytes, bytesOf(node));
    row.flops = sum(row.flops, node.flops);
    rows.set(node.name, row);
  }
  const sorted = [...rows].sort(([, a], [, b]) => weigh(b.bytes) - weigh(a.bytes));
  const cellsOf = ([name, row]) => [name, exact(row.count), amount(row.bytes, "B"), amount(row.flops, "flop")];
  return make(
    "div",
    { class: "drawing" },
    make("p", { class: "soft" }, `${plural(kind.nodes.length, "node")} are too many to draw. By op:`),
    make("table", {}, ...sorted.map((row) => make("tr", {}, ...cellsOf(row).map((text) => make("td", {}, text)))))
  );
}

function light(element, index, on) {
  for (const edge of element.ownerSVGElement.querySelectorAll(`[data-from="${index}"], [data-to="${index}"]`))
    edge.classList.toggle("lit", on);
}

/// Arrow keys go to what an op reads and to what reads it.
function walk(event, index, { links }) {
  const svg = event.currentTarget.ownerSVGElement;
  if (event.key === "Enter" || event.key === " ") event.currentTarget.dispatchEvent(new MouseEvent("click"));
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const [here, there] = event.key === "ArrowUp" ? ["to", "from"] : ["from", "to"];
    const near = links.filter((link) => link[here] === index).map((link) => link[there]);
    near.map((i) => svg.querySelector(`[data-vertex="${i}"][tabindex]`)).find(Boolean)?.focus();
  } else return;
  event.preventDefault();
}
