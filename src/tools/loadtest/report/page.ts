/** A page that needs nothing but itself: styles, uPlot, data and script are in the file, and it may load nothing. */
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
  const { script, style } = uPlotTexts();
  const module = [new URL('./value-text.js', import.meta.url), new URL('./browser/draw.js', import.meta.url)]
    .map((url) => readFileSync(url, 'utf8'))
    .join('\n');
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
          ${raw(script)};
        </script>
        <script type="module">
          ${raw(module)}${raw(START)};
        </script>
      </body>
    </html> `.html;
}

/** Read when a report is written, and not before. */
function uPlotTexts(): { readonly script: string; readonly style: string } {
  const { resolve } = createRequire(import.meta.url);
  const folder = path.dirname(resolve('uplot'));
  const text = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  return { script: text('uPlot.iife.min.js'), style: text('uPlot.min.css') };
}

function raw(text: string): Html {
  return new Html(text);
}
