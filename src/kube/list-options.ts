/** Conversions between the query parameters of a request and the options of a ListerWatcher. */
import type { ListOptions } from './list-watch.ts';

type Query = Readonly<Record<string, string>>;

const NUMBERS: ReadonlySet<string> = new Set(['limit', 'timeoutSeconds']);
const BOOLEANS: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'sendInitialEvents']);

/** Returns the options for a query. `watch=true` is not among the options: the `watch` function implies it. */
export function listOptionsOf(query: Query): ListOptions {
  const options: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(query)) {
    if (name === 'watch') continue;
    if (NUMBERS.has(name)) options[name] = Number(value);
    else if (BOOLEANS.has(name)) options[name] = value === 'true';
    else options[name] = value;
  }
  return options;
}

/** Returns the query for the options. Empty values, zero and false have no parameter: the API defaults to them. */
export function queryOf(options: ListOptions): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === '' || value === 0 || value === false) continue;
    query[name] = String(value);
  }
  return query;
}
