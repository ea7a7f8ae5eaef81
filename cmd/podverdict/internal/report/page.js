"use strict";
// The tables are the page's data: their headings sort them, and charts are drawn from them.

const number = (cell) => Number(cell?.textContent.replaceAll(",", "")) || 0;
const element = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};

const headings = (table) => [...table.tHead.rows[0].cells];
// columnOf returns the index of a table's column, or -1.
const columnOf = (table, title) => headings(table).findIndex((heading) => heading.textContent === title);
const rowsOf = (table) => [...table.tBodies[0].rows];

// sortable makes the headings of a table buttons: names sort upwards first, numbers downwards.
function sortable(table) {
  headings(table).forEach((heading, column) => {
    const button = element("button", { type: "button" }, ...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const down = before ? before === "ascending" : column > 0;
      for (const other of headings(table)) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      const compare = column
        ? (a, b) => number(a.cells[column]) - number(b.cells[column])
        : (a, b) => a.cells[0].textContent.localeCompare(b.cells[0].textContent, "en", { numeric: true });
      table.tBodies[0].append(...rowsOf(table).sort((a, b) => sign * compare(a, b)));
    });
  });
}

// draws has a function for each chart, which draws it for the width that it has now.
const draws = [];

// figure adds a chart with a title.
function figure(caption, label, draw) {
  const canvas = element("div", { role: "img", "aria-label": label });
  document.getElementById("charts").append(element("figure", {}, element("figcaption", {}, caption), canvas));
  draws.push(() => {
    const width = canvas.clientWidth;
    const { height, data, options } = draw(width);
    const chart = new Chartist.BarChart(canvas, data, { viewBox: { width, height }, ...options });
    chart.on("draw", (drawn) => {
      if (drawn.type !== "bar") return;
      const value = drawn.value.x ?? drawn.value.y;
      drawn.element.elem("title").text(`${drawn.meta}: ${value.toLocaleString("en")}`);
      if (options.horizontalBars) drawn.group.elem("text", { x: drawn.x2 + 5, y: drawn.y2 + 4 }, "value").text(value.toLocaleString("en"));
    });
  });
  return draws[draws.length - 1];
}

// short leaves out the middle of a long name, and lets lines break after slashes and the like.
const short = (name, most) => (name.length > most ? name.slice(0, most * 0.35) + "\u2026" + name.slice(-most * 0.6) : name).replace(/[/:@-]/g, "$&\u200b");

// bars returns a function that draws the ten largest values of a column.
const bars = (table, column) => (width) => {
  const top = rowsOf(table).map((row) => ({ name: row.cells[0].textContent, value: number(row.cells[column()]) }))
    .filter(({ value }) => value > 0).sort((a, b) => b.value - a.value).slice(0, 10);
  const offset = Math.min(220, width * 0.36);
  return {
    height: 36 + 28 * top.length,
    data: { labels: top.map(({ name }) => short(name, offset / 4)), series: [top.map(({ name, value }) => ({ value, meta: name }))] },
    options: {
      horizontalBars: true, reverseData: true, chartPadding: { top: 0, right: 56, bottom: 0, left: 0 },
      axisX: { offset: 22, scaleMinSpace: 60, labelInterpolationFnc: (value) => value.toLocaleString("en") },
      axisY: { offset, showGrid: false },
    },
  };
};

const dayName = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

// days draws the failures of each day, those between without any too.
const days = (table) => (width) => {
  const failed = columnOf(table, "failed"), ignored = columnOf(table, "ignored");
  const found = new Map(rowsOf(table).filter((row) => /^\d{4}-/.test(row.cells[0].textContent)).map((row) => [row.cells[0].textContent, row]));
  const labels = [...found.keys()].sort();
  for (let day = 86400e3 + Date.parse(labels[0]), last = Date.parse(labels[labels.length - 1]); day < last && labels.length < 1000; day += 86400e3) {
    const name = new Date(day).toISOString().slice(0, 10);
    if (!found.has(name)) labels.push(name);
  }
  labels.sort();
  const every = Math.ceil(labels.length / (width / 70));
  const one = (kind, value) => labels.map((day) => ({ meta: `${day}, ${kind}`, value: value(found.get(day)?.cells) }));
  const series = [{ className: "counted", data: one("counted", (c) => (c ? number(c[failed]) - number(c[ignored]) : 0)) }];
  if (ignored > 0) series.push({ className: "ignored", data: one("ignored", (c) => (c ? number(c[ignored]) : 0)) });
  const stroke = Math.max(2, Math.min(28, ((width - 60) / labels.length) * 0.7));
  document.documentElement.style.setProperty("--day", `${stroke}px`);
  return {
    height: 220,
    data: { labels, series },
    options: {
      stackBars: true, chartPadding: { top: 8, right: 4, bottom: 0, left: 0 },
      axisX: { offset: 22, showGrid: false, labelInterpolationFnc: (day, i) => (i % every ? "" : dayName.format(new Date(day))) },
      axisY: { offset: 48, onlyInteger: true, scaleMinSpace: 32, labelInterpolationFnc: (value) => value.toLocaleString("en") },
    },
  };
};

// hours adds the chart of hours by the values of a table, with a choice of the resource.
function hours(table) {
  const units = headings(table).map((heading) => heading.textContent).filter((title) => title.endsWith(" hours"));
  if (!units.length) return;
  const select = element("select", {}, ...units.map((unit) => element("option", {}, unit)));
  select.value = units.find((unit) => unit.endsWith("/gpu hours")) ?? units[0];
  const draw = figure(
    element("label", {}, `Hours in failed attempts, by ${table.dataset.by}: `, select), `Bars of hours by ${table.dataset.by}, as in the table below`,
    bars(table, () => columnOf(table, select.value)));
  select.addEventListener("change", draw);
}

const tables = [...document.querySelectorAll("table[data-by]")].filter((table) => rowsOf(table).length);
const byDay = tables.find((table) => table.dataset.by === "day" && rowsOf(table).some((row) => /^\d{4}-/.test(row.cells[0].textContent)));
const others = tables.filter((table) => table.dataset.by !== "day");
if (byDay) {
  const key = columnOf(byDay, "ignored") > 0 ? [" (", element("i", { class: "counted" }, "counted"), ", ", element("i", { class: "ignored" }, "ignored"), ")"] : [];
  figure(element("span", {}, "Failed attempts, by day", ...key), "Bars of failed attempts by day, as in the table below", days(byDay));
}
if (others.length) hours(others[0]);
for (const table of others) {
  const by = table.dataset.by;
  figure(`Failed attempts, by ${by}`, `Bars of failed attempts by ${by}, as in the table below`, bars(table, () => columnOf(table, "failed")));
}
for (const table of tables) sortable(table);

// Charts are drawn again when the page gets wider or narrower. On paper they are scaled.
let drawn = 0;
new ResizeObserver(() => {
  const width = document.body.clientWidth;
  if (width === drawn) return;
  drawn = width;
  for (const draw of draws) draw();
}).observe(document.body);
