// The page of a run: overview, critical path, waterfall, stalls, roofline, tables.
const us = cycles => cycles / data.clock_hz * 1e6;
const record = data.record, cycles = data.path.cycles;
function head() {
  const what = Object.entries(record.workload).map(e => e.join(" ")).join(", ");
  document.title = record.verb + " on " + record.chip.name;
  element("h1", page, (record.model.name ? record.model.name + " on " : "") + record.chip.name);
  element("p", page, record.verb + ": " + what);
  const facts = element("div", page, undefined, {class: "facts"});
  for (const [name, value] of [["time", us(cycles).toFixed(2) + " us"], ["cycles", grouped(cycles)],
      ["launches", record.totals.launches], ["tasks", record.totals.tasks],
      ["moved, HBM", (record.totals.hbm_bytes / 1e6).toFixed(3) + " MB"],
      ["of peak FLOP/s", (100 * record.totals.useful_share).toFixed(2) + " %"],
      ["verdicts", record.pass ? "all pass" : "some fail"]]) {
    const f = element("div", facts);
    element("b", f, value);
    f.append(name);
  }
}
function overview() {
  const s = section("Overview", "Launches (pale: launch latency), how busy each kind of unit was, and what the critical path was spent on. Left to right: 0 to " + us(cycles).toFixed(1) + " us.");
  const wide = 1000, line = 20, list = data.timeline.launches, kinds = data.timeline.kinds;
  const rows = list.length + kinds.length + 1, box = element("div", s, undefined, {class: "scroll"});
  const svg = shape("svg", box, {viewBox: "0 0 " + (wide + 140) + " " + rows * line, style: "min-width:640px"});
  const x = c => 140 + wide * c / cycles;
  list.forEach((l, i) => {
    const y = i * line;
    shape("text", svg, {x: 0, y: y + 14}, l.kernel);
    shape("rect", svg, {x: x(l.ready), y: y + 3, width: x(l.started) - x(l.ready), height: line - 6, fill: colour(l.kernel), opacity: 0.35});
    const r = shape("rect", svg, {x: x(l.started), y: y + 3, width: Math.max(1, x(l.ended) - x(l.started)), height: line - 6, fill: colour(l.kernel)});
    shape("title", r, {}, l.kernel + ": " + us(l.ended - l.ready).toFixed(2) + " us");
  });
  kinds.forEach((k, i) => {
    const y = (list.length + i) * line;
    shape("text", svg, {x: 0, y: y + 14}, k.name.replace("chip.core.", "").replace("chip.", "") + " x" + k.units);
    k.busy.forEach((busy, w) => {
      const from = w * k.window, until = Math.min(cycles, from + k.window);
      const share = Math.min(1, busy / (Math.max(1, until - from) * k.units));
      if (busy > 0) shape("rect", svg, {x: x(from), y: y + 2, width: x(until) - x(from), height: line - 4, fill: "#2f9e6e", opacity: 0.15 + 0.85 * share});
    });
  });
  const y = (rows - 1) * line;
  shape("text", svg, {x: 0, y: y + 14}, "critical path");
  for (const p of data.path.pieces) {
    const r = shape("rect", svg, {x: x(p.begin), y: y + 2, width: Math.max(0.3, x(p.end) - x(p.begin)), height: line - 4, fill: colour(p.step)});
    shape("title", r, {}, p.kernel + " " + p.unit + ": " + p.step + ", " + grouped(p.end - p.begin) + " cycles");
  }
}
function path() {
  const s = section("Critical path", "The chain of work that made the run as long as it was. Gain at most: how much shorter the run is if this costs nothing and all else keeps its order.");
  const seen = new Set();
  bar(s, "all " + grouped(cycles) + " cycles", data.path.steps.map(r => [r.name, r.cycles]), us(cycles).toFixed(2) + " us", seen);
  key(s, seen);
  table(s, ["step", "cycles on path", "", "gain at most", ""], data.path.steps.map(r =>
    [r.name, grouped(r.cycles), percent(r.cycles, cycles), grouped(r.gain), percent(r.gain, cycles)]));
  element("h2", s, "By who could be faster").style.marginTop = "14px";
  table(s, ["all of", "cycles on path", "", "gain at most", ""], data.path.all_of.map(r =>
    [r.name, grouped(r.cycles), percent(r.cycles, cycles), grouped(r.gain), percent(r.gain, cycles)]));
}
function waterfall() {
  const s = section("Waterfall", "From the least time the useful work needs to the time taken, per kernel, in steps that add up.");
  const seen = new Set();
  for (const k of record.kernels) {
    const w = k.waterfall;
    bar(s, k.kernel, ["floor", "layout", "issue", "sync", "dispatch"].map(n => [n, w[n]]), us(w.actual).toFixed(2) + " us", seen);
  }
  key(s, seen);
}
function stalls() {
  const s = section("Stalls", "Every cycle of every unit is busy or has one cause; the units of a kind together.");
  const seen = new Set();
  for (const [name, kind] of Object.entries(data.stalls))
    bar(s, name.replace("chip.core.", "").replace("chip.", "") + " x" + kind.units, Object.entries(kind.cycles),
        "busy " + percent(kind.cycles.busy || 0, kind.total), seen);
  key(s, seen);
  element("h2", s, "Side by side").style.marginTop = "14px";
  table(s, ["at work on a core with a task", "core cycles", ""], Object.entries(data.overlap).map(e =>
    [e[0], grouped(e[1]), percent(e[1], data.task_cycles)]));
}
function roofline() {
  const points = data.roofline.kernels.filter(p => p.flops > 0 && p.intensity > 0);
  if (points.length === 0) return;
  const s = section("Roofline", "Useful FLOP per useful byte against useful FLOP/s; the line is what the chip could do.");
  const peak = data.roofline.peak_flops, bytes = data.roofline.peak_bytes_per_second, ridge = peak / bytes;
  const left = Math.log10(Math.min(ridge, ...points.map(p => p.intensity))) - 0.7;
  const right = Math.log10(Math.max(ridge, ...points.map(p => p.intensity))) + 0.7;
  const low = Math.log10(Math.min(...points.map(p => p.flops), bytes * 10 ** left)) - 0.3, high = Math.log10(peak) + 0.3;
  const wide = 620, tall = 320;
  const svg = shape("svg", s, {viewBox: "0 0 " + wide + " " + tall, style: "max-width:720px"});
  const x = v => 50 + (wide - 70) * (Math.log10(v) - left) / (right - left);
  const y = v => 10 + (tall - 40) * (high - Math.log10(v)) / (high - low);
  for (let d = Math.ceil(left); d <= right; ++d) {
    shape("line", svg, {x1: x(10 ** d), x2: x(10 ** d), y1: 10, y2: tall - 30, stroke: "#d9dfe6"});
    shape("text", svg, {x: x(10 ** d), y: tall - 14, "text-anchor": "middle"}, String(10 ** d));
  }
  for (let d = Math.ceil(low); d <= high; ++d) {
    shape("line", svg, {x1: 50, x2: wide - 20, y1: y(10 ** d), y2: y(10 ** d), stroke: "#d9dfe6"});
    shape("text", svg, {x: 46, y: y(10 ** d) + 4, "text-anchor": "end"}, 10 ** (d - 12) + " T");
  }
  shape("text", svg, {x: wide / 2, y: tall - 1, "text-anchor": "middle"}, "FLOP per byte");
  shape("polyline", svg, {points: [[10 ** left, bytes * 10 ** left], [ridge, peak], [10 ** right, peak]].map(p => x(p[0]) + "," + y(p[1])).join(" "), fill: "none", stroke: "#1c2430", "stroke-width": 2});
  for (const p of points) {
    const dot = shape("circle", svg, {cx: x(p.intensity), cy: y(p.flops), r: 6, fill: colour(p.kernel)});
    shape("title", dot, {}, p.kernel + ": " + percent(p.share, 1) + " of the roof");
    shape("text", svg, {x: x(p.intensity) + 9, y: y(p.flops) + 4}, p.kernel + " " + percent(p.share, 1));
  }
}
function tables() {
  let s = section("Kernels");
  table(s, ["kernel", "tasks", "cores", "cycles", "us", "HBM read, MB", "HBM floor", "matrix floor", "bounding unit", "top stall"],
    record.kernels.map(k => [k.kernel, k.tasks, k.cores, grouped(k.cycles), k.us.toFixed(2), (k.hbm_read_bytes / 1e6).toFixed(3),
      percent(k.hbm_floor_share, 1), percent(k.matrix_floor_share, 1), k.top_stall.unit, k.top_stall.cause + " " + percent(k.top_stall.share, 1)]));
  if (record.verdicts.length > 0) {
    s = section("Verdicts");
    const t = table(s, ["check", "", "figures", "tolerance"], record.verdicts.map(v => [v.name, v.pass ? "pass" : "FAIL " + v.worst,
      Object.entries(v.metrics).map(e => e.join(" ")).join(", "), v.tolerance]));
    record.verdicts.forEach((v, i) => { if (!v.pass) t.tBodies[0].rows[i].className = "fail"; });
  }
  if (record.assumed.length > 0) {
    s = section("Assumed", "What neither the model's file nor the chip's says.");
    table(s, ["what", "value", "source"], record.assumed.map(a => [a.what, a.value, a.source]));
  }
}
for (const part of [head, overview, path, waterfall, stalls, roofline, tables]) part();
