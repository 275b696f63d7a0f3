/** Writes docs/errors.md: `npm run suite -- errors`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorsPage } from './errors-page.ts';

writeFileSync(fileURLToPath(new URL('../../../../docs/errors.md', import.meta.url)), errorsPage());
