/** The style of a report's page, light or dark as the reader's system. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --page: #fcfcfb; --ink: #1d2329; --muted: #68727d; --rule: #e4e6e8; --grid: #e9ebed;
  --shade: #f3f5f7; --shade-2: #fcfcfb; --soft: #f3f5f7;
  --good: #1f8a54; --bad: #c8323f; --doubt: #b06c00; --good-soft: #e9f6ef; --bad-soft: #fcecee; --doubt-soft: #fdf4e3;
  --c0: #2f6fde; --c1: #d9822b; --c2: #239a63; --c3: #7a5cc8; --c4: #d3455b; --c5: #1c93a6; --c6: #a8881f; --c7: #7b8794;
  --relist: #d9822b; --cut: #c8323f; --fault: #7a5cc8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181c; --ink: #e3e7ea; --muted: #929ca6; --rule: #2b3238; --grid: #262c32;
    --shade: #1a1f24; --shade-2: #14181c; --soft: #1c2227;
    --good: #4cc38a; --bad: #ff7a85; --doubt: #f0b04a; --good-soft: #14291f; --bad-soft: #301a1e; --doubt-soft: #2d2413;
    --c0: #6ea1ff; --c1: #f2a65a; --c2: #4cc38a; --c3: #a78bfa; --c4: #ff7a8c; --c5: #4fc3d4; --c6: #d4b84a; --c7: #98a4b0;
    --relist: #f2a65a; --cut: #ff7a85; --fault: #a78bfa;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 var(--sans); font-variant-numeric: tabular-nums; }
main { max-width: 1120px; margin: 0 auto; padding: 36px 28px 72px; }
main.wide { max-width: 1560px; }
h1 { font-size: 26px; line-height: 1.2; font-weight: 650; letter-spacing: -0.01em; margin: 0; }
h2 { font-size: 17px; font-weight: 650; margin: 52px 0 14px; padding-top: 14px; border-top: 1px solid var(--rule); }
h3 { font-size: 13px; font-weight: 600; margin: 18px 0 4px; }
p { margin: 6px 0; max-width: 75ch; }
.above { color: var(--muted); font-size: 13px; margin: 0 0 4px; }
.facts, .note { color: var(--muted); font-size: 13px; }
.verdict { margin: 24px 0 0; padding: 16px 20px; border-radius: 8px; border-left: 5px solid var(--tone); background: var(--tone-soft); }
.verdict strong { font-size: 19px; color: var(--tone); letter-spacing: 0.02em; }
.verdict p { margin: 2px 0 0; max-width: none; }
.verdict ul { margin: 6px 0 0; padding-left: 18px; overflow-wrap: anywhere; }
.PASS { --tone: var(--good); --tone-soft: var(--good-soft); }
.FAIL { --tone: var(--bad); --tone-soft: var(--bad-soft); }
.THRESHOLD, .INVALID, .INTERRUPTED { --tone: var(--doubt); --tone-soft: var(--doubt-soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 18px 20px; margin: 26px 0 0; }
.tiles dt { color: var(--muted); font-size: 12.5px; }
.tiles dd { margin: 0; font-size: 22px; font-weight: 600; letter-spacing: -0.01em; line-height: 1.3; }
.tiles small { display: block; font-size: 12.5px; font-weight: 400; color: var(--muted); letter-spacing: 0; }
.good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); } .muted { color: var(--muted); }
.scroll { overflow-x: auto; margin: 8px 0; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 500; color: var(--muted); font-size: 12.5px; }
th, td { padding: 6px 18px 6px 0; border-bottom: 1px solid var(--rule); white-space: nowrap; vertical-align: top; }
td.wrap { white-space: normal; overflow-wrap: anywhere; }
.n { text-align: right; } th.n:last-child, td.n:last-child { padding-right: 0; }
.meter { display: inline-block; width: 140px; height: 6px; border-radius: 3px; background: var(--rule); overflow: hidden; vertical-align: middle; }
.meter i { display: block; height: 100%; background: currentColor; border-radius: 3px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 10px 32px; }
.plots.three { grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 10px 20px; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 32px; }
figure { margin: 0; min-width: 0; } figcaption { font-size: 13px; font-weight: 600; margin: 12px 0 0; }
.plot { min-height: 236px; }
.u-legend { text-align: left !important; font-size: 12px !important; color: var(--muted); margin: 0 0 0 62px !important; min-height: 22px; width: auto !important; }
.u-legend tr, .u-legend th, .u-legend td { border: 0; padding: 0; font-size: 12px; }
.u-legend .u-series th::after { content: none !important; } .u-legend .u-series:first-child { margin-right: 0; } .u-legend .u-series:first-child th { display: none; }
.u-legend .u-series > * { padding: 1px 3px !important; } .u-legend .u-series { margin-right: 12px; }
.u-legend .u-value { color: var(--ink); } .u-legend th { font-weight: 400; } .u-legend .u-marker { width: 10px; height: 10px; border-radius: 2px; }
.u-select { background: color-mix(in srgb, var(--c0) 14%, transparent) !important; }
.key { font-size: 12.5px; color: var(--muted); } .key i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin: 0 5px 0 14px; }
.strip { width: 100%; display: block; overflow: visible; } .strip text { fill: var(--muted); font: 11.5px var(--sans); }
.strip line { stroke: var(--rule); } .strip .dot { fill-opacity: 0.55; }
pre { font: 12.5px/1.55 var(--mono); background: var(--soft); padding: 14px 16px; border-radius: 6px; overflow-x: auto; margin: 8px 0; }
code { font: 12.5px var(--mono); }
details { margin: 8px 0; } summary { cursor: pointer; color: var(--muted); font-size: 13px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 8px 36px; align-items: start; }
dl.list { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; font-size: 13.5px; margin: 8px 0; }
dl.list dt { color: var(--muted); } dl.list dd { margin: 0; overflow-wrap: anywhere; }
@media print { h2 { break-after: avoid; } figure, tr { break-inside: avoid; } main { max-width: none; padding: 0; } }
`;
