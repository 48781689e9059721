"use strict";
// The page itself: theme, tabs, and links that lead into something folded away.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const css = name => getComputedStyle(root).getPropertyValue(name).trim();

function setTheme(theme) {
  root.dataset.theme = theme;
  document.dispatchEvent(new Event("theme"));
}
const darkly = matchMedia("(prefers-color-scheme: dark)");
setTheme(darkly.matches ? "dark" : "light");
darkly.addEventListener("change", () => setTheme(darkly.matches ? "dark" : "light"));
// In a notebook the picture stands alone, without the page's own button.
document.getElementById("theme")?.addEventListener("click", () =>
  setTheme(root.dataset.theme === "dark" ? "light" : "dark"));

const tabs = [...document.querySelectorAll("[role=tab]")];
function showLoss(index) {
  tabs.forEach((tab, i) => {
    tab.setAttribute("aria-selected", i === index);
    tab.tabIndex = i === index ? 0 : -1;
    document.getElementById("loss-" + i).hidden = i !== index;
  });
  document.dispatchEvent(new CustomEvent("loss", { detail: index }));
}
tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => showLoss(i));
  tab.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const shown = tabs.filter(other => !other.hidden);
    const next = shown[(shown.indexOf(tab) + by + shown.length) % shown.length];
    showLoss(tabs.indexOf(next));
    next.focus();
  });
});

// Where a run had several processes, losses and charts are those of the one that was chosen; or the charts of all of
// them, one beside the other, as far as they differ.
const chooser = document.getElementById("process"), drawnFrom = new Map();
function differing(charts) {
  const about = {};
  for (const chart of charts) (about[chart.dataset.about] ??= []).push(chart);
  const groups = Object.values(about).filter(group => group.length > 1);
  return groups.filter(group => group.some(chart => drawnFrom.get(chart) !== drawnFrom.get(group[0])));
}
function showProcess(name) {
  const beside = name === "", place = document.querySelector(".charts");
  const charts = [...document.querySelectorAll(".charts > [data-process]")];
  const groups = differing(charts), shown = new Set(groups.flat());
  place?.classList.toggle("beside", beside);
  place?.style.setProperty("--ranks", new Set([...shown].map(chart => chart.dataset.process)).size || 1);
  for (const chart of charts) chart.hidden = beside ? !shown.has(chart) : chart.dataset.process !== name;
  if (beside) groups.forEach((group, row) => group.forEach(chart => chart.style.order = row));
  else charts.forEach(chart => chart.style.order = "");
  const alike = new Set(charts.map(chart => chart.dataset.about)).size - groups.length;
  document.getElementById("alike").textContent = beside ? `${groups.length} differ, ${alike} are alike.` : "";
  const chosen = name || chooser.options[0].value;
  for (const tab of tabs) tab.hidden = tab.dataset.process !== chosen;
  const first = tabs.findIndex(tab => !tab.hidden);
  if (first >= 0) showLoss(first);
  dispatchEvent(new Event("resize"));
}
chooser?.addEventListener("change", () => showProcess(chooser.value));
addEventListener("load", () => chooser && showProcess(chooser.value));

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  if (target.dataset.loss) {
    const tab = tabs[Number(target.dataset.loss)];
    if (chooser && tab?.hidden) showProcess(chooser.value = tab.dataset.process);
    showLoss(Number(target.dataset.loss));
  }
  target.scrollIntoView();
  target.focus({ preventScroll: true });
}
addEventListener("hashchange", follow);
addEventListener("load", follow);
// A second click on the same link changes no hash, and should still lead there.
document.addEventListener("click", event => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) setTimeout(follow);
});

const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
document.body.append(tip);
function explain(element, text) {
  const show = event => {
    tip.textContent = text;
    tip.hidden = false;
    const box = element.getBoundingClientRect();
    const x = event.clientX ?? box.left, y = event.clientY ?? box.bottom;
    tip.style.left = Math.max(8, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.min(y + 14, innerHeight - tip.offsetHeight - 8) + "px";
  };
  const hide = () => { tip.hidden = true; };
  element.addEventListener("pointermove", show);
  element.addEventListener("focus", show);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("blur", hide);
}
