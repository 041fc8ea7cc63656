// Places the vertices of a directed acyclic graph on ranks, after Sugiyama: ranks by the longest path, an order on each
// rank with few crossings, then places as close to the neighbours as the order allows.
//
//   layoutGraph(vertices, links)
//     vertices  [{ width, height, labelHeight, late }]  `late`: as close to its readers as it can be
//     links     [{ from, to }]                          numbers of vertices
//   returns { width, height, at: [{ x, y, rank }], segments: [{ from, to, path }] }
//
// x and y are the middle of the upper side. The links of one vertex share their way as long as they can.

const kGapX = 18;
const kGapY = 30;
const kSweeps = 12;

function layoutGraph(vertices, links) {
  const rank = rankVertices(vertices, links);
  const all = vertices.map((vertex, i) => ({ ...vertex, rank: rank[i], up: [], down: [] }));
  const segments = splitLinks(all, rank, links);
  for (const { a, b } of segments) {
    all[a].down.push(b);
    all[b].up.push(a);
  }
  const ranks = [];
  all.forEach((vertex, i) => (ranks[vertex.rank] ??= []).push(i));
  orderRanks(all, ranks);
  const width = placeAcross(all, ranks);
  const height = placeDown(all, ranks);
  return {
    width,
    height,
    at: all.slice(0, vertices.length).map(({ x, y, rank }) => ({ x, y, rank })),
    segments: segments.map(({ a, b, from, to }) => ({ from, to, path: curve(all[a], all[b]) })),
  };
}

/// The longest path from a source; then what can be late moves down to its first reader.
function rankVertices(vertices, links) {
  const rank = vertices.map(() => 0);
  const readers = vertices.map(() => []);
  const waiting = vertices.map(() => 0);
  for (const { from, to } of links) {
    readers[from].push(to);
    waiting[to]++;
  }
  const order = [];
  vertices.forEach((_, i) => waiting[i] || order.push(i));
  for (let k = 0; k < order.length; k++)
    for (const to of readers[order[k]]) {
      rank[to] = Math.max(rank[to], rank[order[k]] + 1);
      if (--waiting[to] === 0) order.push(to);
    }
  for (const i of order.reverse())
    if (vertices[i].late && readers[i].length) rank[i] = Math.min(...readers[i].map((to) => rank[to])) - 1;
  const first = Math.min(...rank);
  return rank.map((r) => r - first);
}

/// Bends a link on every rank that it crosses. The bends of one source are shared by all its readers.
function splitLinks(all, rank, links) {
  const segments = [];
  const bends = new Map();
  for (const { from, to } of links) {
    let last = from;
    for (let r = rank[from] + 1; r < rank[to]; r++) {
      const key = `${from} ${r}`;
      let bend = bends.get(key);
      if (bend === undefined) {
        bend = all.push({ width: 8, height: 0, labelHeight: 0, bend: true, rank: r, up: [], down: [] }) - 1;
        bends.set(key, bend);
        segments.push({ a: last, b: bend, from, to: null });
      }
      last = bend;
    }
    segments.push({ a: last, b: to, from, to });
  }
  return segments;
}

function orderRanks(all, ranks) {
  const place = [];
  const number = (row) => row.forEach((i, p) => (place[i] = (p + 0.5) / row.length));
  ranks.forEach(number);
  const sort = (row, side) => {
    const weight = new Map(
      row.map((i) => [i, all[i][side].length ? mean(all[i][side].map((j) => place[j])) : place[i]])
    );
    row.sort((i, j) => weight.get(i) - weight.get(j));
    number(row);
  };
  for (let sweep = 0; sweep < kSweeps; sweep++) {
    for (let r = 1; r < ranks.length; r++) sort(ranks[r], "up");
    for (let r = ranks.length - 2; r >= 0; r--) sort(ranks[r], "down");
  }
}

function placeAcross(all, ranks) {
  for (const row of ranks) {
    let x = 0;
    for (const i of row) {
      all[i].x = x + all[i].width / 2;
      x += all[i].width + kGapX;
    }
  }
  const wish = (i, sides) => {
    const near = sides.flatMap((side) => all[i][side]);
    return near.length ? mean(near.map((j) => all[j].x)) : all[i].x;
  };
  for (let sweep = 0; sweep < kSweeps; sweep++) {
    for (const row of ranks) settle(all, row, (i) => wish(i, ["up"]));
    for (const row of [...ranks].reverse()) settle(all, row, (i) => wish(i, ["down"]));
    for (const row of ranks) settle(all, row, (i) => wish(i, ["up", "down"]));
  }
  const left = Math.min(...all.map((v) => v.x - v.width / 2));
  const right = Math.max(...all.map((v) => v.x + v.width / 2));
  for (const vertex of all) vertex.x += kGapX - left;
  return right - left + 2 * kGapX;
}

/// Gives a row the places nearest to those wished, in the sense of least squares, that keep its order and the gaps:
/// neighbours that want the same place form a block around the mean of their wishes. A bend wishes more strongly than a
/// box, so that long edges are straight.
function settle(all, row, wish) {
  const blocks = [];
  let offset = 0;
  row.forEach((i, p) => {
    if (p > 0) offset += (all[row[p - 1]].width + all[i].width) / 2 + kGapX;
    const weight = all[i].bend ? 4 : 1;
    let block = { members: [[i, offset]], weight, sum: weight * (wish(i) - offset) };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight > block.sum / block.weight) {
      const left = blocks.pop();
      block = {
        members: left.members.concat(block.members),
        weight: left.weight + block.weight,
        sum: left.sum + block.sum,
      };
    }
    blocks.push(block);
  });
  for (const { members, weight, sum } of blocks) for (const [i, shift] of members) all[i].x = sum / weight + shift;
}

function placeDown(all, ranks) {
  let y = 14;
  for (const row of ranks) {
    const height = Math.max(...row.map((i) => all[i].height));
    const label = Math.max(...row.map((i) => all[i].labelHeight));
    for (const i of row) {
      all[i].y = y + (height - all[i].height) / 2;
      all[i].top = y;
      all[i].bottom = y + height + label;
    }
    y += height + label + kGapY;
  }
  return y - kGapY + 14;
}

/// A link leaves the row of a straight down, and comes into the row of b straight down.
function curve(a, b) {
  const start = a.bend ? a.top : a.y + a.height;
  const middle = (a.bottom + b.top) / 2;
  const [x0, y0, y1, x1, y2, y3, m] = [a.x, start, a.bottom, b.x, b.top, b.bend ? b.top : b.y, middle].map(
    (value) => Math.round(value * 10) / 10
  );
  return `M${x0},${y0}V${y1}C${x0},${m} ${x1},${m} ${x1},${y2}V${y3}`;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
