// The address of the page, and its start.

function setAll(open) {
  current.opened = new Set(open ? runsOf(current.rows).map(({ first }) => first) : []);
  showRows();
  choose(null);
}

/// #f=NAME&each=1&open=TITLE&find=TEXT, where TITLE may be `all`.
function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = data.functions.findIndex(({ report }) => report.function === wanted.get("f"));
  openFunction(Math.max(0, index));
  if (wanted.has("each")) showEach();
  if (wanted.get("open") === "all") setAll(true);
  else if (wanted.has("open")) {
    const number = current.rows.findIndex((row) => row.title === wanted.get("open"));
    if (number >= 0) toggleRow(runsOf(current.rows).findLast(({ first }) => first <= number).first);
  }
  if (wanted.has("find")) {
    page("find").value = wanted.get("find");
    find(wanted.get("find"));
    nextMatch();
  }
}

function start() {
  document.title = `${data.title}: mhc report`;
  page("title").textContent = data.title;
  data.functions.forEach(({ report }, index) =>
    page("function").append(make("option", { value: index }, `@${report.function}`))
  );
  page("function").addEventListener("change", (event) => openFunction(Number(event.target.value)));
  page("openAll").addEventListener("click", () => setAll(true));
  page("closeAll").addEventListener("click", () => setAll(false));
  page("find").addEventListener("input", (event) => find(event.target.value));
  page("find").addEventListener("keydown", (event) => event.key === "Enter" && nextMatch());
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(null);
    if (event.key === "/" && document.activeElement !== page("find")) {
      page("find").focus();
      event.preventDefault();
    }
  });
  addEventListener("hashchange", followAddress);
  if (data.functions.length) followAddress();
  else page("totals").replaceChildren(make("p", {}, "The model has no entry: no public function."));
  // Tests and scripts read this.
  document.documentElement.dataset.errors = problems.join("; ");
  document.documentElement.dataset.ready = Math.round(performance.now() - started);
}

start();
