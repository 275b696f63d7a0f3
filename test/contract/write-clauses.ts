/** `npm run suite -- clauses`: orders the clauses of docs/contract.md, and names the tests of each. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testsByClause, withTests } from './clause-pages.ts';
import { ROOT } from './clauses.ts';

const PAGE = join(ROOT, 'docs/contract.md');
writeFileSync(PAGE, withTests(readFileSync(PAGE, 'utf8'), testsByClause()));
