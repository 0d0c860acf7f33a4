#pragma once
// What a page looks like, and what it does: it sorts tables, filters them, and shows one figure of
// a choice at a time.

#include <string_view>

namespace warpladder::lab {

inline constexpr std::string_view kReportStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d0d7de;
  --grid: #eaeef2; --band: #f6f8fa; --accent: #0969da; --bad: #cf222e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1;
  --line: #30363d; --grid: #21262d; --band: #161b22; --accent: #58a6ff; --bad: #ff7b72;
  --good: #3fb950; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1200px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 40px 0 8px;
  border-bottom: 1px solid var(--line); padding-bottom: 4px; } h3 { font-size: 16px; margin: 20px 0 6px; }
p { margin: 6px 0; max-width: 80ch; } .dim { color: var(--faint); }
nav { position: sticky; top: 0; background: var(--paper); padding: 8px 0; z-index: 2;
  border-bottom: 1px solid var(--line); } nav a { color: var(--accent); margin-right: 16px;
  text-decoration: none; } nav a:hover { text-decoration: underline; }
figure { margin: 12px 0; } figcaption { color: var(--faint); font-size: 13px; }
figure svg { display: block; width: 100%; max-width: 900px; height: auto; }
svg text { font-family: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }
.ink { fill: var(--ink); } .faint { fill: var(--faint); } .grid { stroke: var(--grid); }
.roof { stroke: var(--ink); stroke-width: 1.6; fill: none; }
circle.full { stroke: none; } circle.hollow { fill: none; stroke-width: 1.4; }
polyline.line { fill: none; stroke-width: 1.6; } polyline.dashed { stroke-dasharray: 7 4; }
text.halo { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; margin: 8px 0; }
th, td { padding: 3px 9px; border-bottom: 1px solid var(--grid); text-align: left;
  vertical-align: top; } th { background: var(--band); border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
table.sortable th { cursor: pointer; user-select: none; } table.sortable th:focus-visible {
  outline: 2px solid var(--accent); } th[aria-sort=ascending]::after { content: ' ▲'; }
th[aria-sort=descending]::after { content: ' ▼'; }
tr.rival td { color: var(--faint); } .bad { color: var(--bad); } .good { color: var(--good); }
.long { overflow-wrap: anywhere; min-width: 12em; }
p.verdict { border-left: 4px solid var(--accent); padding: 6px 12px; background: var(--band);
  max-width: 100ch; }
table.source { width: 100%; } table.source td { border-bottom: none; padding: 0 8px; }
table.source code { font: 12.5px/1.6 ui-monospace, Menlo, Consolas, monospace; white-space: pre; }
table.source .number { color: var(--faint); text-align: right; user-select: none; width: 1%; }
table.source .counts { white-space: nowrap; font-size: 12px; width: 1%; padding-right: 14px;
  border-right: 1px solid var(--line); background: linear-gradient(to right,
  color-mix(in srgb, var(--accent) 22%, transparent) var(--share, 0%), transparent 0); }
.counts a { color: inherit; } tr.blamed td { background-color: color-mix(in srgb, var(--bad) 12%,
  transparent); } tr.gap td { color: var(--faint); text-align: center; }
.maps { display: flex; flex-wrap: wrap; gap: 0 32px; } .map { flex: 1 1 440px; max-width: 560px; }
path.cell { fill: var(--grid); } .moved { fill: none; stroke: var(--faint); }
select, input { font: inherit; font-size: 14px; color: inherit; background: var(--band);
  border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; margin: 4px 0; }
summary { cursor: pointer; color: var(--accent); }
@media print { body { max-width: none; padding: 0; font-size: 11px; } nav, input, select { display: none; }
  h2 { break-after: avoid; } figure, tr { break-inside: avoid; } table { font-size: 9px; }
  .wide { overflow: visible; } th, td { padding: 1px 5px; } }
)";

inline constexpr std::string_view kReportScript = R"(
'use strict';
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, i) => {
    const cell = row.cells[i], text = cell.dataset.v ?? cell.textContent;
    const number = text === '' ? NaN : Number(text);
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => {
    if (a === '' || b === '') return (a === '') - (b === '');
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), undefined, {numeric: true});
  };
  heads.forEach((head, i) => {
    const sort = () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...table.tBodies[0].rows];
      rows.sort((r, s) => {
        const a = value(r, i), b = value(s, i);
        if (a === '' || b === '') return compare(a, b);
        return down ? compare(b, a) : compare(a, b);
      });
      table.tBodies[0].append(...rows);
    };
    head.tabIndex = 0;
    head.addEventListener('click', sort);
    head.addEventListener('keydown', (event) => { if (event.key === 'Enter') sort(); });
  });
}
for (const input of document.querySelectorAll('input.filter')) {
  const rows = document.getElementById(input.dataset.table).tBodies[0].rows;
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
for (const select of document.querySelectorAll('select.choice')) {
  const figures = document.getElementById(select.dataset.figures).children;
  const show = () => [...figures].forEach((f, i) => { f.hidden = i !== select.selectedIndex; });
  select.addEventListener('change', show);
  show();
  for (const link of document.querySelectorAll(`a[data-choice="${select.dataset.figures}"]`)) {
    link.addEventListener('click', () => { select.selectedIndex = link.dataset.index; show(); });
  }
}
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});
)";

}  // namespace warpladder::lab
