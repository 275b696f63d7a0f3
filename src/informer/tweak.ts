/**
 * `tweakListOptions`: the user's say in every LIST and WATCH, on the main thread. Selectors, limits, timeouts and
 * whatever else a server knows are the user's; where a list begins and how a watch goes on is not: a change there
 * would show as a cache that is wrong, much later.
 */
import { KubeloomError } from '../errors.ts';
import { listOptionsOf, queryOf } from '../kube/list-options.ts';
import type { ListOptions } from '../kube/list-watch.ts';
import type { Query } from '../threads/protocol.ts';

/**
 * Given the options of a request, gives those that it is made with: called for every LIST, each of its pages, every
 * WATCH and streaming list. `resourceVersion`, `resourceVersionMatch`, `continue`, `allowWatchBookmarks` and
 * `sendInitialEvents` stay what they are whatever it says, which is reported once (ERR_KUBELOOM_LIST_OPTIONS).
 * When it throws, the request counts as failed: it is reported and tried again later.
 */
export type TweakListOptions = (options: ListOptions) => ListOptions;

/** What the rules of list-and-watch decide alone. */
const OWN = [
  'resourceVersion',
  'resourceVersionMatch',
  'continue',
  'allowWatchBookmarks',
  'sendInitialEvents',
] as const satisfies readonly (keyof ListOptions)[];

/** @param onRefused told of options that are not the user's */
export function tweaked(query: Query, tweak: TweakListOptions, onRefused: (names: string) => void): Query {
  const wished = queryOf(call(tweak, query));
  const refused = OWN.filter((name) => wished[name] !== query[name]);
  if (refused.length > 0) onRefused(refused.join(', '));
  const isWatch = query['watch'] === 'true';
  for (const name of OWN) delete wished[name];
  delete wished['watch'];
  const own = OWN.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]] as const]));
  return {
    // A watch always has an end, or its silence could not be told from a dead connection.
    ...(query['timeoutSeconds'] === undefined ? {} : { timeoutSeconds: query['timeoutSeconds'] }),
    ...wished,
    ...(isWatch ? { watch: 'true' } : {}),
    ...Object.fromEntries(own),
  };
}

function call(tweak: TweakListOptions, query: Query): ListOptions {
  let options: unknown;
  try {
    options = tweak(listOptionsOf(query));
  } catch (cause) {
    throw refusal(`tweakListOptions threw: ${String(cause)}`, cause);
  }
  // A promise would count as no options at all: everything would be listed.
  if (typeof options === 'object' && options !== null && !('then' in options)) return options;
  throw refusal(`tweakListOptions must return options, got ${String(options)}`);
}

export function refusedOptions(names: string): KubeloomError {
  return refusal(`tweakListOptions cannot change ${names}: the rules of list-and-watch decide it`);
}

function refusal(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_LIST_OPTIONS', message, cause === undefined ? {} : { cause });
}
