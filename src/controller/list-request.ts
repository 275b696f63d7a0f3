/** One page of a list: from the ListerWatcher into the destination, and what it means for the rules. */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import type { KubeList, ListerWatcher } from '../kube/list-watch.ts';
import { isRecord } from '../kube/meta-shape.ts';
import type { Failure, ReflectorEvent } from '../reflector/state.ts';
import type { Query } from '../threads/protocol.ts';
import type { Attempt } from './attempt.ts';
import type { Destination } from './destination.ts';
import type { ErrorReports } from './error-reports.ts';
import { listOptionsOf } from '../kube/list-options.ts';
import { isTable } from './shape.ts';
import type { ExpectedType } from './shape.ts';
import { failureOf } from './thrown.ts';

/** What a request needs of the one who makes it. */
export interface RequestContext<T> {
  /** For messages. */
  readonly name: string;
  readonly listerWatcher: ListerWatcher<T>;
  readonly expectedType: ExpectedType | undefined;
  readonly destination: Destination<T>;
  readonly reports: ErrorReports;
  readonly clock: Clock;
  /** The server has accepted the request. */
  readonly opened: () => void;
  /** Takes a step of the rules. */
  readonly dispatch: (event: ReflectorEvent) => void;
  readonly fail: (failure: Failure) => void;
  readonly moved: (resourceVersion: string, by: 'list' | 'watch') => void;
}

/** Rejects for nothing but errors of its own. */
export async function runList<T>(attempt: Attempt, query: Query, context: RequestContext<T>): Promise<void> {
  const where = `${context.name}: LIST`;
  let list: KubeList<T>;
  try {
    list = await context.listerWatcher.list(listOptionsOf(query), attempt.signal);
    wantList(list, where);
  } catch (thrown) {
    if (!attempt.isClosed) context.fail(failureOf('list', thrown, where));
    return;
  }
  if (attempt.isClosed) return;
  context.opened();
  context.destination.append(goodItems(list.items, where, context.reports));
  const { resourceVersion = '', continue: continueToken = '' } = list.metadata ?? {};
  context.dispatch({ type: 'page', resourceVersion, continueToken });
}

/** Whatever else comes must not pass for an empty list: that would delete every object. */
function wantList(list: unknown, where: string): void {
  if (isTable(list)) {
    throw new KubeloomError('ERR_KUBELOOM_TABLE', `${where} gave a Table in place of a list: unsupported`);
  }
  const items = isRecord(list) ? list['items'] : undefined;
  if (isRecord(list) && (Array.isArray(items) || items === null)) return;
  throw new KubeloomError('ERR_KUBELOOM_LIST_MALFORMED', `${where} gave no list: it has no items`);
}

/** Nothing but objects; their keys are the destination's business. An empty list may come as null. */
function goodItems<T>(items: readonly T[] | null, where: string, reports: ErrorReports): readonly T[] {
  const all = items ?? [];
  const good = all.filter(isRecord);
  const bad = all.length - good.length;
  if (bad === 0) return all;
  const message = `${where}: ${bad} of ${all.length} items are no objects; they were skipped`;
  reports.report(new KubeloomError('ERR_KUBELOOM_LIST_ITEM', message), 'decode');
  return good;
}
