/** A self-contained page: styles, uPlot, data and script are in the file, and the page loads no other resource. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Html, html, scriptJson } from './html.ts';
import type { PlotData } from './plot.ts';
import { STYLE } from './style.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/** The end of the script: `valueText` and `drawAll` are above it. */
const START = `
const query = matchMedia('(prefers-color-scheme: dark)');
drawAll(JSON.parse(document.getElementById('data').textContent), {
  document, uPlot, text: valueText, darkness: query,
  style: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  onResize: (element, listener) => new ResizeObserver(listener).observe(element),
});
`;

/** @param className of the main element */
export function pageText(title: string, className: string, body: Html, data: PlotData): string {
  const { plot, style, draw } = pageParts();
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${raw(style)}${raw(STYLE)}
        </style>
      </head>
      <body>
        <main class="${className}">${body}</main>
        <script type="application/json" id="data">
          ${scriptJson(data)}
        </script>
        <script>
          ${raw(plot)};
        </script>
        <script type="module">
          ${raw(draw)}${raw(START)};
        </script>
      </body>
    </html> `.html;
}

/** The parts that the build writes beside the tools; they are read only when a report is written. */
function pageParts(): Readonly<Record<'plot' | 'style' | 'draw', string>> {
  const root = path.dirname(createRequire(import.meta.url).resolve('kubeloom/package.json'));
  const text = (name: string): string => readFileSync(path.join(root, 'dist/tools/page', name), 'utf8');
  return { plot: text('uPlot.iife.min.js'), style: text('uPlot.min.css'), draw: text('draw.js') };
}

function raw(text: string): Html {
  return new Html(text);
}
