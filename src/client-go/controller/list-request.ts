/** A request of the ListerWatcher, and the request for a page of a list, which it writes into the store. */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { KubeList, ListerWatcher } from '../../kube/lister-watcher.ts';
import { itemsOf } from '../../kube/meta.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { Failure, Progress, ReflectorEvent } from '../../reflector/rules/state.ts';
import type { Query } from '../../kube/connection-options.ts';
import type { StoreWriter } from './store-writer.ts';
import type { WarningReporter } from './warning-reporter.ts';
import { listOptionsOf } from '../../kube/lister-watcher.ts';
import { isTable } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';
import { failureOf } from './lister-watcher-errors.ts';

/** Dependencies of a request. */
export interface RequestContext<T> {
  /** For messages. */
  readonly name: string;
  readonly listerWatcher: ListerWatcher<T>;
  readonly expectedType: ExpectedType | undefined;
  readonly writer: StoreWriter<T>;
  readonly reports: WarningReporter;
  readonly clock: Clock;
  /** Called when the server accepted the request. */
  readonly opened: () => void;
  /** Dispatches an event to the rules. */
  readonly dispatch: (event: ReflectorEvent) => void;
  readonly fail: (failure: Failure) => void;
  /** Called after a list is in the store, or when the watch reached this version. */
  readonly moved: (resourceVersion: string, by: 'list' | 'watch') => void;
}

/** A request in progress, and the callbacks that end with it. */
export class RequestAttempt {
  /** Returns the progress of an open watch. */
  progress: (() => Progress) | undefined;
  readonly #controller = new AbortController();
  readonly #endings: (() => void)[] = [];

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isClosed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Registers a callback for the end; calls it at once if the request is over. */
  onClose(end: () => void): void {
    if (this.isClosed) end();
    else this.#endings.push(end);
  }

  close(): void {
    if (this.isClosed) return;
    this.#controller.abort();
    for (const end of this.#endings.splice(0)) end();
  }
}

/** Requests a page. Rejects only for internal errors. */
export async function runList<T>(
  attempt: RequestAttempt,
  query: Query,
  context: RequestContext<T>,
): Promise<void> {
  const where = `${context.name}: LIST`;
  let list: KubeList<T>;
  try {
    list = await context.listerWatcher.list(listOptionsOf(query), attempt.signal);
    requireList(list, where);
  } catch (thrown) {
    if (!attempt.isClosed) context.fail(failureOf('list', thrown, where));
    return;
  }
  if (attempt.isClosed) return;
  context.opened();
  context.writer.append(goodItems(itemsOf(list) ?? [], where, context.reports));
  const { resourceVersion = '', continue: continueToken = '' } = list.metadata ?? {};
  context.dispatch({ type: 'page', resourceVersion, continueToken });
}

/** Throws unless the value is a list. Reading another value as an empty list would delete every object. */
function requireList(list: unknown, where: string): void {
  if (isTable(list)) {
    const message = `${where} returned a Table instead of a list: request plain objects (without as=Table)`;
    throw new KubeloomError('ERR_KUBELOOM_UNEXPECTED_OBJECT', message);
  }
  if (itemsOf(list)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_RESPONSE',
    `${where} did not return a list: items are missing`,
  );
}

/** Returns the items that are objects; the store checks their keys. */
function goodItems<T>(all: readonly T[], where: string, reports: WarningReporter): readonly T[] {
  const good = all.filter(isRecord);
  const bad = all.length - good.length;
  if (bad === 0) return all;
  const message = `${where}: ${bad} of ${all.length} items are not objects; the reflector skipped them`;
  reports.report(new KubeloomError('ERR_KUBELOOM_UNEXPECTED_OBJECT', message), 'decode');
  return good;
}
