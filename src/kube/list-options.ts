/** The query parameters of a request and the options of a ListerWatcher are the same thing, written twice. */
import type { ListOptions } from './list-watch.ts';

type Query = Readonly<Record<string, string>>;

const NUMBERS: ReadonlySet<string> = new Set(['limit', 'timeoutSeconds']);
const BOOLEANS: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'sendInitialEvents']);

/** What a reflector's rules ask for. `watch=true` is not among the options: it is the function's name. */
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

/** What is empty, zero or false goes without a parameter: that is what the API takes it to be. */
export function queryOf(options: ListOptions): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === '' || value === 0 || value === false) continue;
    query[name] = String(value);
  }
  return query;
}
