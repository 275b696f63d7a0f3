/** `npm run scale`: writes the tables of docs/scale.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withTables } from './tables.ts';

const PAGE = fileURLToPath(new URL('../../../docs/scale.md', import.meta.url));
writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')));
