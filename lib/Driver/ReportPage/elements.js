// Elements of the page and the text in them. All text of the user goes through append, never through innerHTML.

/// make("p", { class: "x", onclick }, "text", child, ...)
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const exact = (value) =>
  Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumFractionDigits: 2 });

/// Four digits of what is long.
function short(value) {
  if (Math.abs(value) < 99999.5) return exact(value);
  const units = ["", " k", " M", " G", " T", " P", " E"];
  const unit = Math.min(Math.floor(Math.log10(Math.abs(value)) / 3), units.length - 1);
  return Number((value / 1000 ** unit).toPrecision(4)) + units[unit];
}

/// [per token, once] as "640 B/token + 96 B"
function amount([perToken, once], unit, number = short) {
  const parts = [];
  const join = (value) => number(value) + (/[a-zA-Z]$/.test(number(value)) ? "" : " ") + unit;
  if (perToken) parts.push(join(perToken) + "/token");
  if (once) parts.push(join(once));
  return parts.join(" + ") || "0 " + unit;
}

const sum = (a, b) => [a[0] + b[0], a[1] + b[1]];
const flopText = (cost) => (cost.flops.some(Boolean) ? amount(cost.flops, "flop") : "");
const bytesOf = (cost) => sum(cost.read, cost.written);
const plural = (count, noun) => `${exact(count)} ${noun}${count === 1 ? "" : "s"}`;
const plainType = (type) => type.replace(/^tensor<(.*)>$/, "$1");

/// The end of a long dotted name says most.
function shortName(name, most = 20) {
  if (name.length <= most) return name;
  const tail = name.split(".").slice(-2).join(".");
  return "…" + (tail.length < most ? tail : name.slice(1 - most));
}
