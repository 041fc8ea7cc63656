// The page of --report. Its data is written by lib/Driver/Report.cpp:
//
//   functions[].report          totals, as in --explain=json
//   functions[].before, .after  pictures: `kinds` of groups, and `groups`, each with its kind, the places of its ops in
//                               the source, the tensors that come `in` from other groups, and [node, remark] pairs;
//                               null after is the same as before
//   functions[].rows            groups before and after that stand side by side; equal `pair`s look the same
//   functions[].becomes[pair]   for each op of the group before, the op of the group after that it is part of
//   remarks[]                   what the passes had to say
//
// All text of the user reaches the page through textContent. The address says what is drawn:
// #f=NAME&each=1&open=TITLE (or open=all)&find=TEXT.

const started = performance.now();
const problems = [];
addEventListener("error", (event) => {
  problems.push(event.message);
  document.documentElement.dataset.errors = problems.join("; ");
});

const kSides = ["before", "after"];
const kMostDrawn = 1500; // ops of a group; beyond that, a table
const kFewRemarks = 30; // are shown at once, where some are of missed sites
const kLeastScale = 0.72; // of a drawing that is wider than its card
const data = JSON.parse(document.getElementById("data").textContent);
const page = (id) => document.getElementById(id);
let current; // what is shown: the function, its rows, its choice

//===----------------------------------------------------------------------===//
// Totals and remarks
//===----------------------------------------------------------------------===//

function totalsOf(report) {
  const pick = (get) => kSides.map((side) => get(report[side].total));
  const add = (a, b) => a.bytes_read[b] + a.bytes_written[b];
  const rows = [
    ["launches", "kernels", pick((t) => t.launches)],
    ["bytes_per_token", "bytes per token", pick((t) => add(t, "per_token"))],
    ["bytes_fixed", "bytes once", pick((t) => add(t, "fixed"))],
    ["flops_per_token", "flops per token", pick((t) => t.flops.per_token)],
    ["flops_fixed", "flops once", pick((t) => t.flops.fixed)],
    ["bound_us", "µs at least", pick((t) => t.bound_us)],
    ["temporary_per_token", "temporaries per token", pick((t) => t.temporary_bytes.per_token)],
    ["temporary_fixed", "temporaries once", pick((t) => t.temporary_bytes.fixed)],
  ];
  const arena = report.after.total.arena_bytes;
  if (arena) {
    rows.push(["arena_per_token", "arena per token", [null, arena.per_token]]);
    rows.push(["arena_fixed", "arena once", [null, arena.fixed]]);
  }
  return rows.filter(([, , values]) => values.some((value) => value));
}

function showTotals(report) {
  page("subtitle").textContent =
    "What the mhc compiler found and fused, and what that saves. " +
    `Times are lower bounds for ${report.machine} at M = ${exact(report.tokens)} tokens.`;
  const tiles = totalsOf(report).map(([key, title, [before, after]]) => {
    const ratio = before !== null && after > 0 && before !== after ? `${(before / after).toFixed(2)}×` : "";
    const share = before ? Math.min(1, after / before) : 0;
    return make(
      "div",
      { class: "total", "data-total": key, "data-before": before ?? undefined, "data-after": after },
      make("h3", {}, title),
      make(
        "div",
        { class: "numbers" },
        before === null ? null : make("span", { class: "from" }, `${short(before)} →`),
        make("span", { class: "to", title: exact(after) }, short(after))
      ),
      before === null
        ? null
        : make(
            "div",
            { class: "share" },
            make("div", { class: "bar" }, make("i", { style: `width:${100 * share}%` })),
            make("span", { class: "ratio" }, ratio)
          )
    );
  });
  const whole = kSides.every((side) => report[side].total.complete);
  if (!whole) tiles.push(make("p", { class: "soft" }, "The totals lack the ops that are not counted."));
  page("totals").replaceChildren(...tiles);
}

/// The list is long, and written when it is opened.
function showRemarks() {
  const places = new Map(); // of remarks
  current.rows.forEach((row, number) =>
    kSides.forEach((side) => {
      for (const [node, remark] of current.groupOf(row, side)?.remarks ?? [])
        if (!places.has(remark)) places.set(remark, { number, side, node });
    })
  );
  const count = (kind) => [...places.keys()].filter((remark) => data.remarks[remark].kind === kind).length;
  const list = page("remarks");
  list.hidden = !places.size;
  list.open = count("missed") > 0 && places.size <= kFewRemarks;
  list.querySelector("summary").textContent =
    `Remarks: ${count("missed")} missed, ${plural(count("note"), "note")}, ${count("found")} found and fused`;
  list.querySelector("ol").replaceChildren();
  list.ontoggle = () => list.open && list.querySelector("ol").replaceChildren(...remarkItems(places));
  list.ontoggle();
}

function remarkItems(places) {
  const order = ["missed", "note", "found"];
  const rankOf = (remark) => order.indexOf(data.remarks[remark].kind);
  return [...places]
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || a - b)
    .map(([index, place]) => {
      const remark = data.remarks[index];
      const parts = [
        make("span", { class: `tag ${remark.kind}` }, remark.kind),
        `${remark.text} `,
        make("span", { class: "soft" }, remark.where),
      ];
      return make("li", {}, make("button", { type: "button", onclick: () => goTo(place) }, ...parts));
    });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

function openFunction(index) {
  const source = data.functions[index];
  source.after ??= source.before;
  current = {
    source,
    index,
    rows: source.rows,
    each: false,
    opened: new Set(),
    chosen: null,
    groupOf: (row, side) => (row[side] === undefined ? undefined : source[side].groups[row[side]]),
    kindOf: (group, side) => source[side].kinds[group.kind],
  };
  for (const side of kSides) findReaders(source[side]);
  const largest = kSides.flatMap((side) => source[side].kinds.map((kind) => weigh(bytesOf(kind.cost))));
  current.largest = Math.max(1, ...largest);
  page("function").value = index;
  showTotals(source.report);
  showRemarks();
  showRows();
  choose(null);
}

/// Bytes at the number of tokens that times are for.
const weigh = ([perToken, once]) => perToken * current.source.report.tokens + once;

/// The other end of what comes `in`: what leaves a group.
function findReaders(picture) {
  if (picture.out) return;
  picture.out = picture.groups.map(() => []);
  const leave = (tensor) => tensor.group !== undefined && picture.out[tensor.group].push(tensor);
  picture.groups.forEach((group, reader) => group.in.forEach((tensor) => leave({ ...tensor, reader })));
  picture.results.forEach(leave);
}

/// Neighbouring layers that look the same are one run, unless each is wanted.
function runsOf(rows) {
  const runs = [];
  rows.forEach((row, number) => {
    const last = runs.at(-1);
    if (last && !current.each && row.layer && row.pair === rows[last.first].pair) last.count++;
    else runs.push({ first: number, count: 1 });
  });
  return runs;
}

function showRows() {
  page("rows").replaceChildren(...runsOf(current.rows).map(makeRow));
  for (const number of current.opened) drawRow(number);
}

function makeRow({ first, count }) {
  const row = current.rows[first];
  const last = current.rows[first + count - 1].title;
  const title = count > 1 ? `${row.title.replace(" ", "s ")} to ${last.replace(/^\D*/, "")}` : row.title;
  const toggle = make(
    "button",
    { class: "toggle", type: "button", "aria-expanded": "false", onclick: () => toggleRow(first) },
    title,
    count > 1 ? make("span", { class: "soft" }, `${count} alike, each:`) : null
  );
  const apart = make("button", { class: "each", type: "button", onclick: showEach }, `list all ${count}`);
  return make(
    "section",
    {
      class: `row${count > 1 ? " many" : ""}`,
      id: `row${first}`,
      "data-layers": row.layer ? count : 0,
      "aria-label": title,
    },
    make("div", { class: "head" }, toggle, count > 1 ? apart : null),
    make("div", { class: "pair" }, ...kSides.map((side) => makeCard(row, side, first + count - 1)))
  );
}

function makeCard(row, side, last) {
  const group = current.groupOf(row, side);
  if (!group) return make("div", { class: `card none ${side}` }, "nothing");
  const kind = current.kindOf(group, side);
  const ops = kind.nodes.filter((node) => !node.input);
  return make(
    "div",
    {},
    make(
      "div",
      { class: `card ${side}` },
      make(
        "div",
        { class: "sums" },
        make("b", {}, plural(ops.length, "op")),
        make("span", {}, plural(kind.cost.launches, "kernel")),
        make("span", {}, amount(bytesOf(kind.cost), "B")),
        make("span", {}, flopText(kind.cost))
      ),
      make(
        "div",
        { class: "bar", title: "share of the largest group's bytes" },
        make("i", { style: `width:${(100 * weigh(bytesOf(kind.cost))) / current.largest}%` })
      ),
      makeChips(kind, group)
    ),
    makeFlow(current.rows[last], side)
  );
}

/// Contents of a collapsed group: its kernels in order, or its most frequent ops.
function makeChips(kind, group) {
  const most = 7;
  const missed = new Set(missedIn(group));
  const counts = new Map();
  kind.nodes.forEach((node, index) => {
    if (node.input) return;
    const entry = counts.get(node.name) ?? { node, count: 0, missed: false };
    entry.count++;
    entry.missed ||= missed.has(index);
    counts.set(node.name, entry);
  });
  const entries = [...counts.values()];
  if (entries.length > most) entries.sort((a, b) => b.missed - a.missed || b.count - a.count);
  const chips = entries.slice(0, most).map(({ node, count, missed }) =>
    make(
      "span",
      { class: `chip${node.kernel ? " kernel" : ""}${missed ? " missed" : ""}` },
      node.name + (count > 1 ? ` × ${count}` : "")
    )
  );
  if (entries.length > most) chips.push(make("span", { class: "soft" }, `and ${entries.length - most} more`));
  return make("div", { class: "chips" }, ...chips);
}

const missedIn = (group) =>
  group.remarks.filter(([, remark]) => data.remarks[remark].kind === "missed").map(([node]) => node);

/// The tensors that leave a group.
function makeFlow(row, side) {
  const seen = new Map();
  for (const tensor of current.source[side].out[row[side]]) seen.set(`${tensor.from} ${tensor.name}`, tensor);
  if (!seen.size) return null;
  const text = [...seen.values()].map(tensorText);
  const shown = text.slice(0, 3).join(", ") + (text.length > 3 ? `, and ${text.length - 3} more` : "");
  return make("div", { class: "flow", title: text.join("\n") }, shown);
}

function tensorText(tensor) {
  return `${tensor.result || tensor.name || "tensor"} ${plainType(tensor.type)}, ${sizeOf(tensor)}`;
}

function sizeOf(tensor, number = short) {
  return tensor.unknown ? `depends on ${tensor.unknown}` : amount(tensor.bytes, "B", number);
}

function toggleRow(number) {
  if (current.opened.delete(number)) {
    const element = page(`row${number}`);
    element.querySelector(".toggle").setAttribute("aria-expanded", "false");
    for (const drawing of element.querySelectorAll(".drawing")) drawing.remove();
  } else {
    current.opened.add(number);
    drawRow(number);
  }
}

function showEach() {
  current.each = true;
  showRows();
}
