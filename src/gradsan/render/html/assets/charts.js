"use strict";
// Magnitudes over iterations. All charts share one x axis: zoom one, and the others follow.
const COLOURS = ["#3b6fd4", "#d1662b", "#2f9e77", "#a9479c", "#b08d18", "#3aa0c4", "#c44a5c", "#7a67c7"];
const plots = [];
const everything = [1, Math.max(2, data.iterations)];

function shades(plot) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = css("--deep");
  for (const [from, to] of data.deep) {
    const left = plot.valToPos(from - 0.5, "x", true), right = plot.valToPos(Math.max(to, from + 1) - 0.5, "x", true);
    ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
  }
  for (const finding of data.findings) {
    const x = plot.valToPos(finding.iteration, "x", true), foot = bbox.top + bbox.height, size = 7 * devicePixelRatio;
    ctx.fillStyle = ctx.strokeStyle = css("--" + finding.severity);
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, foot);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x, foot - size);
    ctx.lineTo(x - size, foot);
    ctx.lineTo(x + size, foot);
    ctx.fill();
  }
  ctx.restore();
}

function zoom(min, max) {
  const span = Math.min(Math.max(max - min, 2), everything[1] - everything[0]);
  const from = Math.min(Math.max(min, everything[0]), everything[1] - span);
  for (const plot of plots) plot.setScale("x", { min: from, max: from + span });
}

function byKey(event) {
  const { min, max } = plots[0].scales.x, span = max - min;
  const moves = {
    "+": [min + span / 4, max - span / 4], "=": [min + span / 4, max - span / 4],
    "-": [min - span / 2, max + span / 2], "0": everything,
    ArrowLeft: [min - span / 4, max - span / 4], ArrowRight: [min + span / 4, max + span / 4],
  };
  if (!moves[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  zoom(...moves[event.key]);
}

const short = value => value == null ? "–" : Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3)
  ? value.toExponential(1) : String(Number(value.toPrecision(3)));

function optionsFor(chart, width) {
  const axis = { stroke: () => css("--quiet"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line") } };
  const lines = Object.keys(chart.series).map((label, i) => ({
    label, stroke: COLOURS[i % COLOURS.length], width: 1.6, spanGaps: true, value: (_, v) => short(v),
    dash: i >= COLOURS.length ? [6, 3] : [], points: { show: chart.x.length < 40 },
  }));
  return {
    width, height: 230, padding: [10, 24, 0, 0],
    cursor: { sync: { key: "iterations" }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: (_, min, max) => [min, max] }, y: chart.log ? { distr: 3 } : chart.unit === "share" ? { range: [0, 1] } : {} },
    axes: [{ ...axis, values: (_, ticks) => ticks.map(t => Number.isInteger(t) ? t.toLocaleString("en") : "") },
      { ...axis, size: 62, values: (_, ticks) => ticks.map(t => t == null ? "" : short(t)) }],
    series: [{ label: "iteration", value: (_, v) => v == null ? "–" : Math.round(v).toLocaleString("en") }, ...lines],
    hooks: {
      drawClear: [shades],
      setSelect: [plot => {
        const { left, width: wide } = plot.select;
        if (wide > 3) zoom(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  };
}

function drawChart(chart, place) {
  const frame = Object.assign(document.createElement("div"), { className: "chart", tabIndex: 0 });
  const title = Object.assign(document.createElement("h3"), { textContent: chart.title });
  if (chart.process) {
    title.append(Object.assign(document.createElement("span"), { className: "whose", textContent: chart.process }));
  }
  if (chart.group) title.append(Object.assign(document.createElement("small"), { textContent: chart.group }));
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", `Chart: ${chart.title} ${chart.group}`);
  frame.append(title);
  frame.dataset.process = chart.process;
  frame.dataset.about = `${chart.title} ${chart.group}`;
  drawnFrom.set(frame, JSON.stringify([chart.x, chart.series]));
  place.append(frame);
  const plot = new uPlot(optionsFor(chart, frame.clientWidth - 28), [chart.x, ...Object.values(chart.series)], frame);
  plot.over.addEventListener("dblclick", () => zoom(...everything));
  frame.addEventListener("keydown", byKey);
  plots.push(plot);
}

const place = document.querySelector(".charts");
if (place) {
  for (const chart of data.charts) drawChart(chart, place);
  zoom(...everything);
  const flags = document.querySelector(".flags");
  if (data.findings.length) flags.append("Findings: ");
  data.findings.forEach((finding, i) => {
    const text = `▲ ${finding.rule} from ${finding.iteration.toLocaleString("en")}`;
    flags.append(Object.assign(document.createElement("a"), { href: "#finding-" + i, textContent: text }), " ");
  });
  document.addEventListener("theme", () => plots.forEach(plot => plot.redraw(false, true)));
  addEventListener("resize", () => plots.forEach(plot =>
    plot.setSize({ width: Math.max(100, plot.root.parentElement.clientWidth - 28), height: 230 })));
}
