// The page of a sweep: the points that no other one beats, what each knob moves, every point as a line.
const best = "#c2476f", rest = "#3b6fd4";
const at = (name, otherwise) => Math.max(data.objectives.indexOf(name), otherwise);
const state = {workload: 0, x: at("us", 0), y: at("area_mm2_nominal", 0), only: new Map(),
  judged: new Set(["us", "energy_uj_nominal", "area_mm2_nominal"].map(n => at(n, 0)))};
const number = v => Math.abs(v) >= 1e6 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(3) : String(Number(v.toPrecision(5)));
const named = p => data.axes.map((a, i) => a + " " + p.axes[i]).join(", ");
const link = p => "records/" + p.hash + "/record.json";
const chosen = p => [...state.only].every(([axis, values]) => values.has(p.axes[axis]));
const judged = () => data.objectives.filter((_, i) => state.judged.has(i));
// Marks the points that no other one beats in all judged figures; of equal ones the first.
function mark(all) {
  const of = [...state.judged], kept = [];
  for (const p of all) p.front = false;
  const sum = p => of.reduce((s, o) => s + p.figures[o], 0);  // who beats a point has a smaller sum
  for (const p of [...all].sort((a, b) => sum(a) - sum(b) || a.point - b.point)) {
    p.front = !kept.some(k => of.every(o => k.figures[o] <= p.figures[o]));
    if (p.front) kept.push(p);
  }
  return all;
}
const points = () => mark(data.workloads[state.workload].points.filter(chosen));

function chooser(parent, label, names, value, act) {
  const box = element("label", parent, label + " ");
  const select = element("select", box);
  names.forEach((name, i) => {
    const option = element("option", select, name, {value: i});
    option.selected = i === value;
  });
  select.addEventListener("change", () => { act(Number(select.value)); draw(); });
}
function anchor(svg, p) {
  return shape("a", svg, {href: link(p), target: "_blank"});
}
function scale(values, from, until) {
  let low = Math.min(...values), high = Math.max(...values);
  if (low === high) { low -= Math.abs(low) / 20 || 1; high += Math.abs(high) / 20 || 1; }
  const f = v => from + (until - from) * (v - low) / (high - low);
  f.low = low;
  f.high = high;
  return f;
}
function head() {
  document.title = data.title;
  element("h1", page, data.title);
  element("p", page, data.about);
  const facts = element("div", page, undefined, {class: "facts"});
  for (const [name, value] of [["runs", data.runs], ["failed", data.failed], ["knobs", data.axes.length]]) {
    const f = element("div", facts);
    element("b", f, grouped(value));
    f.append(name);
  }
}
function front() {
  const all = points(), x = state.x, y = state.y;
  const s = section("Pareto front", "A point is a chip, and a link to its record. Red: no other point is as good in all of " +
    judged().join(", ") + " and better in one. The line: the best of the two figures shown.");
  if (data.workloads.length > 1)
    chooser(s, "workload", data.workloads.map(w => w.name), state.workload, v => { state.workload = v; });
  chooser(s, "across", data.objectives, x, v => { state.x = v; });
  chooser(s, "up", data.objectives, y, v => { state.y = v; });
  const ticks = element("div", s, "judged by ");
  data.objectives.forEach((o, i) => {
    const label = element("label", ticks, undefined, {style: "white-space:nowrap;margin-right:10px"});
    const box = element("input", label, undefined, {type: "checkbox"});
    box.checked = state.judged.has(i);
    box.disabled = box.checked && state.judged.size === 1;
    box.addEventListener("change", () => { if (box.checked) state.judged.add(i); else state.judged.delete(i); draw(); });
    label.append(o);
  });
  if (state.only.size > 0) {
    const clear = element("button", s, "show all points again");
    clear.addEventListener("click", () => { state.only.clear(); draw(); });
  }
  if (all.length === 0) return;
  const wide = 620, tall = 380, svg = shape("svg", element("div", s, undefined, {class: "scroll"}),
    {viewBox: "0 0 " + wide + " " + tall, style: "min-width:520px;max-width:900px"});
  const sx = scale(all.map(p => p.figures[x]), 66, wide - 14), sy = scale(all.map(p => p.figures[y]), tall - 40, 12);
  for (let i = 0; i <= 4; ++i) {
    const vx = sx.low + (sx.high - sx.low) * i / 4, vy = sy.low + (sy.high - sy.low) * i / 4;
    shape("line", svg, {x1: sx(vx), x2: sx(vx), y1: 12, y2: tall - 40, stroke: "#d9dfe6"});
    shape("line", svg, {x1: 66, x2: wide - 14, y1: sy(vy), y2: sy(vy), stroke: "#d9dfe6"});
    shape("text", svg, {x: sx(vx), y: tall - 25, "text-anchor": i === 4 ? "end" : "middle"}, number(vx));
    shape("text", svg, {x: 61, y: sy(vy) + 4, "text-anchor": "end"}, number(vy));
  }
  shape("text", svg, {x: wide / 2, y: tall - 6, "text-anchor": "middle"}, data.objectives[x]);
  shape("text", svg, {x: 12, y: tall / 2, "text-anchor": "middle", transform: "rotate(-90 12 " + tall / 2 + ")"}, data.objectives[y]);
  let least = Infinity;
  const steps = [];
  for (const p of [...all].sort((a, b) => a.figures[x] - b.figures[x] || a.figures[y] - b.figures[y])) {
    if (p.figures[y] >= least) continue;
    if (least < Infinity) steps.push(sx(p.figures[x]) + "," + sy(least));
    least = p.figures[y];
    steps.push(sx(p.figures[x]) + "," + sy(least));
  }
  shape("polyline", svg, {points: steps.join(" "), fill: "none", stroke: best, "stroke-width": 1.2});
  for (const p of [...all].sort((a, b) => a.front - b.front)) {
    const dot = shape("circle", anchor(svg, p), {cx: sx(p.figures[x]), cy: sy(p.figures[y]), r: p.front ? 4.5 : 2.5,
      fill: p.front ? best : rest, opacity: p.front ? 0.9 : 0.35});
    shape("title", dot, {}, "point " + p.point + ": " + named(p) + "\n" + data.objectives.map((o, i) => o + " " + number(p.figures[i])).join("\n"));
  }
  const kept = all.filter(p => p.front);
  const t = table(s, ["point", ...data.axes, ...judged()], kept.map(p =>
    [p.point, ...p.axes, ...judged().map(o => number(p.figures[data.objectives.indexOf(o)]))]));
  kept.forEach((p, i) => {
    const cell = t.tBodies[0].rows[i].cells[0];
    cell.textContent = "";
    element("a", cell, p.point, {href: link(p)});
  });
}
function median(values) {
  const v = [...values].sort((a, b) => a - b), m = v.length >> 1;
  return v.length % 2 ? v[m] : (v[m - 1] + v[m]) / 2;
}
function sensitivity() {
  const all = data.workloads[state.workload].points, shown = [state.x, state.y].filter((v, i, a) => a.indexOf(v) === i);
  const s = section("Sensitivity", "The median over all points with a knob at each of its values; the change is from the least of these medians to the greatest.");
  for (const o of shown) {
    const rows = data.axes.map((axis, a) => {
      const groups = new Map();
      for (const p of all) {
        if (!groups.has(p.axes[a])) groups.set(p.axes[a], []);
        groups.get(p.axes[a]).push(p.figures[o]);
      }
      const levels = [...groups].map(([value, list]) => [value, median(list)]);
      const medians = levels.map(l => l[1]), low = Math.min(...medians), high = Math.max(...medians);
      return {axis, levels, low, high, change: low > 0 ? (high - low) / low : 0};
    }).sort((a, b) => b.change - a.change);
    element("h2", s, data.objectives[o]).style.marginTop = "10px";
    const most = Math.max(...rows.map(r => r.change), 1e-9);
    for (const r of rows) {
      const row = element("div", s, undefined, {class: "row"});
      element("span", row, percent(r.change, 1));
      element("div", row, r.axis + ": " + (r.levels.length <= 8 ? r.levels.map(l => l[0] + " → " + number(l[1])).join(", ")
        : r.levels.length + " values, " + number(r.low) + " to " + number(r.high)));
      const b = element("div", row, undefined, {class: "bar", style: "height:8px"});
      element("i", b, undefined, {style: "background:" + rest + ";width:" + 100 * r.change / most + "%"});
    }
  }
}
// A column of a knob has a place for each of its values, in the order of the sweep.
function columns(all) {
  const levels = data.axes.map((_, a) => [...new Set(data.workloads[state.workload].points.map(p => p.axes[a]))]);
  const places = levels.map(l => scale(l.map((_, i) => i), 300, 34));
  const figures = judged().map(o => data.objectives.indexOf(o));
  const scales = figures.map(f => scale(all.map(p => p.figures[f]), 300, 34));
  return {levels, places, scales, names: [...data.axes, ...judged()],
    of: p => [...p.axes.map((v, a) => places[a](levels[a].indexOf(v))), ...figures.map((f, i) => scales[i](p.figures[f]))]};
}
function parallel() {
  const all = points();
  const s = section("Every point", "A line is a point, red on the front. Press a knob's value to see only points that have it.");
  if (all.length === 0) return;
  const c = columns(all), gap = 108, wide = gap * c.names.length;
  const svg = shape("svg", element("div", s, undefined, {class: "scroll"}),
    {viewBox: "0 0 " + wide + " 330", style: "min-width:" + 90 * c.names.length + "px;max-width:" + wide + "px"});
  const line = p => c.of(p).map((y, i) => (i ? "L" : "M") + (i * gap + gap / 2) + " " + y.toFixed(1)).join("");
  shape("path", svg, {d: all.filter(p => !p.front).map(line).join(""), fill: "none", stroke: rest, opacity: Math.max(0.04, Math.min(0.4, 40 / all.length))});
  for (const p of all.filter(p => p.front)) {
    const path = shape("path", anchor(svg, p), {d: line(p), fill: "none", stroke: best, opacity: 0.7, "stroke-width": 1.5});
    shape("title", path, {}, "point " + p.point + ": " + named(p));
  }
  c.names.forEach((name, i) => {
    const x = i * gap + gap / 2;
    shape("line", svg, {x1: x, x2: x, y1: 34, y2: 300, stroke: "#1c2430", opacity: 0.5});
    shape("text", svg, {x, y: 16, "text-anchor": "middle"}, name);
    if (i < data.axes.length) {
      if (c.levels[i].length <= 24)
        c.levels[i].forEach((value, at) => {
          const t = shape("text", svg, {x: x + 5, y: c.places[i](at) + 4, class: "level"}, value);
          t.addEventListener("click", () => { state.only.set(i, new Set([value])); draw(); });
        });
    } else {
      const f = c.scales[i - data.axes.length];
      shape("text", svg, {x, y: 314, "text-anchor": "middle"}, number(f.low));
      shape("text", svg, {x, y: 30, "text-anchor": "middle"}, number(f.high));
    }
  });
}
function draw() {
  page.textContent = "";
  for (const part of [head, front, sensitivity, parallel]) part();
}
draw();
