/**
 * `tweakListOptions` lets the user change the options of every LIST and WATCH, on the main thread. The user may change
 * selectors, limits, timeouts and other options, but not the version at which a list begins or a watch continues: such
 * a change would make the cache wrong, and the error would show much later.
 */
import { shown } from '../base/option-checks.ts';
import { disown, isThenable } from '../base/thenable.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { listOptionsOf, queryOf } from '../kube/lister-watcher.ts';
import type { ListOptions } from '../kube/lister-watcher.ts';
import type { Query } from '../kube/connection-options.ts';

/**
 * Function that receives the options of a request and returns the options to use. The informer calls it for every LIST,
 * each page of a LIST, every WATCH and streaming list. Changes of `resourceVersion`, `resourceVersionMatch`,
 * `continue`, `allowWatchBookmarks`, `sendInitialEvents` and `shardSelector` are ignored and reported once
 * (ERR_KUBELOOM_OPTION). If the function throws, the request fails: the error is reported and the request is retried
 * later.
 */
export type TweakListOptions = (options: ListOptions) => ListOptions;

/** Options that only the rules of list-and-watch decide. */
const OWN = [
  'resourceVersion',
  'resourceVersionMatch',
  'continue',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'shardSelector',
] as const satisfies readonly (keyof ListOptions)[];

/** Returns a function that applies the user's changes to a query. @param report receives the first ignored change */
export function tweaking(
  tweak: TweakListOptions,
  report: (error: KubeloomError) => void,
): (query: Query) => Query {
  let isReported = false;
  return (query) => {
    const requested = queryOf(call(tweak, query));
    const refused = OWN.filter((name) => requested[name] !== query[name]).join(', ');
    if (refused !== '' && !isReported) {
      isReported = true;
      report(
        refusal(`tweakListOptions cannot change ${refused}: list-and-watch sets it; leave it unchanged`),
      );
    }
    for (const name of OWN) delete requested[name];
    delete requested['watch'];
    const own = OWN.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]] as const]));
    return {
      // A watch always gets an end; otherwise the silence of an idle watch would look like a dead connection.
      ...(query['timeoutSeconds'] === undefined ? {} : { timeoutSeconds: query['timeoutSeconds'] }),
      ...requested,
      ...(query['watch'] === 'true' ? { watch: 'true' } : {}),
      ...Object.fromEntries(own),
    };
  };
}

function call(tweak: TweakListOptions, query: Query): ListOptions {
  let options: unknown;
  try {
    options = tweak(listOptionsOf(query));
  } catch (cause) {
    throw refusal(`tweakListOptions threw: ${messageOf(cause)}`, cause);
  }
  // A promise contains no options: the request would list everything.
  if (typeof options === 'object' && options !== null && !isThenable(options)) return options;
  disown(options);
  throw refusal(`tweakListOptions must return an options object, got ${shown(options)}`);
}

function refusal(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_OPTION', message, cause === undefined ? {} : { cause });
}
