/** `npm run site`: builds the site of the documents into .cache/site/dist. */
import { relative } from 'node:path';
import { SITE, buildSite } from './build.ts';

const pages = await buildSite();
console.log(`${pages} pages and the API reference in ${relative(process.cwd(), SITE)}`);
