// Finds ops by their names, places, tensors and remarks.

const search = { text: "", matches: [], next: 0 };

function find(text) {
  search.text = text.trim().toLowerCase();
  search.next = 0;
  search.matches = [];
  if (search.text)
    for (const [number, row] of current.rows.entries())
      for (const side of kSides) search.matches.push(...matchesIn(row, number, side));
  const count = search.matches.length;
  page("found").textContent = search.text && (count ? `${exact(count)} found, Enter` : "none");
}

function matchesIn(row, number, side) {
  const group = current.groupOf(row, side);
  if (!group) return [];
  const { nodes, edges } = current.kindOf(group, side);
  const has = (text) => text.toLowerCase().includes(search.text);
  const hits = new Set();
  group.at.forEach((place, node) => (has(nodes[node].name) || has(place)) && hits.add(node));
  for (const { from, to, name } of edges)
    if (nodes[from].input) has(group.inputs[from - group.at.length]) && hits.add(to);
    else if (has(name)) hits.add(from);
  for (const [node, remark] of group.remarks) if (has(data.remarks[remark].text)) hits.add(node);
  return [...hits].map((node) => ({ number, side, node }));
}

function nextMatch() {
  if (!search.matches.length) return;
  const match = search.matches[search.next++];
  page("found").textContent = `${search.next} of ${search.matches.length}`;
  search.next %= search.matches.length;
  goTo(match);
  for (const old of document.querySelectorAll(".hit")) old.classList.remove("hit");
  elementOf(match)?.classList.add("hit");
}
