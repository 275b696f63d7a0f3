/**
 * `npm run dashboard`: writes docs/grafana/kubeloom.json. With `-- --picture` it also runs a program for 100 s, evaluates
 * the queries of the panels with Prometheus' engine (needs Go), and draws docs/grafana/dashboard.svg.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { evaluate } from '../../test/e2e/prometheus.ts';
import { dashboardJson } from './grafana.ts';
import { drawPicture } from './picture.ts';
import { CHANGES_PER_SECOND, DOWN, EXPIRED, PODS_COUNT, SECONDS, SLOW, runScene } from './scene.ts';
import { SECTIONS } from './sections.ts';

const FOLDER = new URL('../../../docs/grafana/', import.meta.url);
/** Grafana has four times the interval of the scrapes at least. */
const RATE_INTERVAL = '5s';

function write(name: string, text: string): void {
  const url = new URL(name, FOLDER);
  writeFileSync(url, text);
  console.log(`${fileURLToPath(url)}: ${Math.ceil(text.length / 1024)} KiB`);
}

/** Puts values in the place of the variables, as Grafana does. */
function resolved(expression: string): string {
  return expression.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll(/\$\w+/g, '.*');
}

async function picture(): Promise<string> {
  const scrapes = await runScene();
  const startMs = scrapes[0]?.atMs ?? 0;
  const expressions = SECTIONS.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => queries.map(({ expression }) => expression)),
  );
  const results = await evaluate({
    scrapes,
    labels: { job: 'demo', instance: 'localhost:9464' },
    queries: expressions.map(resolved),
    startMs,
    endMs: startMs + SECONDS * 1000,
    stepMs: 1000,
  });
  return drawPicture(SECTIONS, {
    results: new Map(expressions.map((expression, index) => [expression, results[index] ?? []])),
    startMs,
    seconds: SECONDS,
    incidents: [SLOW, EXPIRED, DOWN],
    caption: `${PODS_COUNT.toLocaleString('en')} pods, ${CHANGES_PER_SECOND} changes a second, one scrape a second`,
  });
}

write('kubeloom.json', dashboardJson());
if (process.argv.includes('--picture')) write('dashboard.svg', await picture());
