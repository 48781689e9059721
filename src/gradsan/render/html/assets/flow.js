"use strict";
// The flow of each loss: dagre decides where everything goes, this draws it as SVG.
const FONT = 14, SMALL = 11, GAP = 4;
const NARROW = 640; // below this width a picture runs from top to bottom
const measure = document.createElement("canvas").getContext("2d");

function widthOf(text, size, weight = 400) {
  measure.font = `${weight} ${size}px ${css("--sans") || "sans-serif"}`;
  return measure.measureText(text).width;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Names can be as long as anything; all of them are in the tooltip.
const LONGEST = 36;
const brief = text => text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;

// What is written on a node, line by line: [text, size, weight, class].
function textsOf(node) {
  const many = node.times > 1 ? ` ×${node.times}` : "";
  const texts = [[brief(node.label) + many, FONT, node.kind === "value" ? 500 : 650, ""]];
  const under = [];
  if (node.kind === "network") {
    if (node.cut) under.push(node.cut === "frozen" ? "frozen: no gradient" : "under " + node.cut);
    if (node.fate) under.push(node.fate);
    if (!node.live && !node.cut) under.push("no gradient arrives");
  } else if (node.where) {
    under.push("line " + node.where.line);
  }
  under.forEach(text => texts.push([brief(text), SMALL, 400, "sub"]));
  return texts;
}

function sizeOf(node) {
  const texts = textsOf(node);
  const chips = node.roles.reduce((sum, role) => sum + widthOf(role, SMALL, 600) + 20, 0);
  const width = Math.max(chips, ...texts.map(([t, size, weight]) => widthOf(t, size, weight))) + 26;
  const height = texts.reduce((sum, [, size]) => sum + size + 6, 0) + (node.roles.length ? 22 : 0) + 14;
  return { width: Math.max(width, 60), height };
}

function layout(loss, narrow) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ rankdir: narrow ? "TB" : "LR", nodesep: narrow ? 14 : 26, ranksep: narrow ? 44 : 62, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of loss.nodes) graph.setNode(node.id, sizeOf(node));
  for (const [id, label] of Object.entries(loss.groups)) graph.setNode("g" + id, { label, paddingTop: 24 });
  for (const node of loss.nodes) if (node.group) graph.setParent(node.id, "g" + node.group);
  for (const edge of loss.edges) {
    const cut = edge.kind === "cut" ? { width: 30, height: 26, labelpos: "c" } : {};
    graph.setEdge(edge.source, edge.target, { weight: edge.kind === "gradient" ? 3 : 1, ...cut });
  }
  dagre.layout(graph);
  return graph;
}

// A smooth line through dagre's points, moved sideways so that value and gradient run side by side.
function pathOf(points, dx, dy) {
  const p = points.map(({ x, y }) => [x + dx, y + dy]);
  let d = `M${p[0]}`;
  for (let i = 1; i < p.length - 1; i++) {
    const end = i === p.length - 2 ? p[i + 1] : [(p[i][0] + p[i + 1][0]) / 2, (p[i][1] + p[i + 1][1]) / 2];
    d += `Q${p[i]} ${end}`;
  }
  return p.length === 2 ? d + `L${p[1]}` : d;
}

function linkTo(findings, element, text) {
  if (!document.getElementById("finding-" + findings[0])) { // a picture alone has nowhere to lead to
    explain(element, text.replace("\nselect to read the finding", ""));
    return element;
  }
  const link = svg("a", { href: "#finding-" + findings[0], "aria-label": text }, element);
  explain(link, text);
  return link;
}

function tellOf(findings) {
  return findings.map(i => `${data.findings[i].rule} ${data.findings[i].name}`).join("\n");
}

function drawEdge(edge, points, narrow, head) {
  const bad = edge.findings.length ? " bad" : "";
  const group = svg("g", { class: `edge ${edge.kind}${bad}` });
  const side = edge.kind === "gradient" ? 3.5 : 0;
  const [dx, dy] = narrow ? [side, 0] : [0, side];
  group.append(svg("path", { class: "fore", d: pathOf(points, -dx, -dy), "marker-end": head("fore") }));
  if (edge.kind === "gradient") {
    const marker = head(bad ? "bad" : "back");
    group.append(svg("path", { class: "back", d: pathOf([...points].reverse(), dx, dy), "marker-end": marker }));
  }
  if (!bad) return group;
  return linkTo(edge.findings, group, tellOf(edge.findings) + "\nselect to read the finding");
}

function drawScissors(edge, at, cut) {
  const bad = edge.findings.length ? " bad" : "";
  const mark = svg("g", { class: "mark" + bad, transform: `translate(${at.x},${at.y})` },
    svg("circle", { r: 11 }), svg("text", { "text-anchor": "middle", y: 4.5, "font-size": 13 }, "✂"));
  const text = `cut: ${cut || "no gradient passes"}`;
  if (bad) return linkTo(edge.findings, mark, `${text}\n${tellOf(edge.findings)}`);
  explain(mark, text);
  return mark;
}

function drawNode(node, { x, y, width, height }) {
  const kind = node.kind === "network" ? "box" : node.kind;
  const group = svg("g", { class: `node ${kind}${node.live ? "" : " dead"}${node.findings.length ? " bad" : ""}` });
  const radius = node.kind === "network" ? 7 : 15;
  group.append(svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: radius }));
  let top = y - height / 2 + 7;
  for (const [text, size, weight, name] of textsOf(node)) {
    top += size + 3;
    group.append(svg("text", { x, y: top, "text-anchor": "middle", "font-size": size, "font-weight": weight, class: name }, text));
    top += 3;
  }
  let left = x - node.roles.reduce((sum, role) => sum + widthOf(role, SMALL, 600) + 12 + GAP, -GAP) / 2;
  for (const role of node.roles) {
    const wide = widthOf(role, SMALL, 600) + 12;
    group.append(svg("g", { class: "chip " + role },
      svg("rect", { x: left, y: top + 3, width: wide, height: 16, rx: 8 }),
      svg("text", { x: left + wide / 2, y: top + 15, "text-anchor": "middle", "font-size": SMALL }, role)));
    left += wide + GAP;
  }
  const about = [node.label.length > LONGEST && node.label, node.where && node.where.code, node.layers.join(", "), node.findings.length && tellOf(node.findings)];
  const text = about.filter(Boolean).join("\n");
  if (!node.findings.length) {
    if (text) explain(group, text);
    return group;
  }
  group.append(svg("g", { class: "flagged", transform: `translate(${x + width / 2 - 2},${y - height / 2 + 2})` },
    svg("circle", { r: 9 }), svg("text", { "text-anchor": "middle", y: 4, "font-size": 12 }, "!")));
  return linkTo(node.findings, group, text);
}

function arrow(name, index) {
  return svg("marker", { id: `${name}-${index}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
    markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z", class: "arrow-" + name }));
}

// How much a picture of this size has to shrink to be in view as a whole. On a phone it may be taller than
// the screen: the page scrolls that way anyhow, and letters must stay legible,
// unless it is asked for as a whole.
function fit(place, { width, height }, whole = false) {
  const frame = getComputedStyle(place), narrow = isNarrow(place) && !whole;
  const wide = place.clientWidth - parseFloat(frame.paddingLeft) - parseFloat(frame.paddingRight);
  const high = parseFloat(frame.maxHeight) - parseFloat(frame.paddingTop) - parseFloat(frame.paddingBottom) - 2;
  return Math.max(narrow ? 0.6 : 0.2, Math.min(1, wide / width, narrow ? 1 : high / height));
}
const isNarrow = place => place.clientWidth < NARROW;

// From left to right where that leaves letters large enough, else whichever way is larger.
function chooseLayout(loss, place) {
  if (isNarrow(place)) return [layout(loss, true), true];
  const across = layout(loss, false), shrunk = fit(place, across.graph());
  if (shrunk >= 0.72) return [across, false];
  const down = layout(loss, true);
  return fit(place, down.graph()) > shrunk * 1.15 ? [down, true] : [across, false];
}

function resize(place, scale) {
  const picture = place.querySelector("svg"), { width, height } = picture.viewBox.baseVal;
  const middle = [place.scrollLeft + place.clientWidth / 2, place.scrollTop + place.clientHeight / 2];
  const grown = scale * width / (picture.getBoundingClientRect().width || 1);
  picture.setAttribute("width", width * scale);
  picture.setAttribute("height", height * scale);
  place.scrollLeft = middle[0] * grown - place.clientWidth / 2;
  place.scrollTop = middle[1] * grown - place.clientHeight / 2;
}

function drawLoss(loss, place) {
  const [graph, narrow] = chooseLayout(loss, place);
  const { width, height } = graph.graph();
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group",
    "aria-label": `Gradient flow of ${loss.title}` });
  const index = place.dataset.loss; // a marker in a hidden picture is no marker: each has its own
  const head = name => `url(#${name}-${index})`;
  picture.append(svg("defs", {}, ...["fore", "back", "bad"].map(name => arrow(name, index))));
  for (const id of Object.keys(loss.groups)) {
    const { x, y, width: w, height: h, label } = graph.node("g" + id);
    picture.append(svg("g", { class: "cluster" },
      svg("rect", { x: x - w / 2, y: y - h / 2 - 12, width: w, height: h + 12, rx: 10 }),
      svg("text", { x: x - w / 2 + 10, y: y - h / 2 + 5, "font-size": 12, "font-weight": 650, class: "sub" }, brief(label))));
  }
  const byId = new Map(loss.nodes.map(node => [node.id, node]));
  const marks = [];
  for (const edge of loss.edges) {
    const laid = graph.edge(String(edge.source), String(edge.target));
    const drawn = drawEdge(edge, laid.points, narrow, head);
    picture.append(drawn);
    if (edge.kind !== "cut") continue;
    const line = drawn.querySelector(".fore");
    marks.push(drawScissors(edge, line.getPointAtLength(line.getTotalLength() / 2), byId.get(edge.target).cut));
  }
  for (const node of loss.nodes) picture.append(drawNode(node, graph.node(String(node.id))));
  picture.append(...marks);
  place.replaceChildren(picture);
  resize(place, fit(place, graph.graph()));
  place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
  place.dataset.drawn = `${place.clientWidth}×${innerHeight}`;
}

function shown() {
  return document.querySelector(".picture:not([hidden])");
}

// Again after every change of the window: it is fitted to that.
function drawShown() {
  const place = shown();
  if (place && place.dataset.drawn !== `${place.clientWidth}×${innerHeight}`) drawLoss(data.losses[place.dataset.loss], place);
}

const ZOOM = { in: 1.25, out: 1 / 1.25 };
for (const button of document.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    const place = shown(), picture = place.querySelector("svg"), size = picture.viewBox.baseVal;
    const now = picture.getBoundingClientRect().width / size.width;
    const by = ZOOM[button.dataset.zoom];
    resize(place, by ? Math.min(4, Math.max(0.1, now * by)) : fit(place, size, true));
  });
}
document.addEventListener("loss", drawShown);
addEventListener("resize", drawShown);
drawShown();
