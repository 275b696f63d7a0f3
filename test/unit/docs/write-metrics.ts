/** Writes docs/metrics-table.md: `npm run suite -- metrics`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './documents.ts';
import { metricsPage } from './metrics-page.ts';

writeFileSync(join(ROOT, 'docs/metrics-table.md'), metricsPage());
