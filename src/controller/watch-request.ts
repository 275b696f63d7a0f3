/** One watch, or streaming list: read until it ends, breaks, goes silent, or nothing more of it is wanted. */
import { KubeloomError } from '../errors.ts';
import type { Watch } from '../kube/list-watch.ts';
import { isRecord } from '../kube/meta-shape.ts';
import { noEndBookmark, stalled } from '../reflector/failure.ts';
import { InitialEventsDeadline } from '../reflector/initial-events-deadline.ts';
import { Watchdog } from '../reflector/watchdog.ts';
import type { Query } from '../threads/protocol.ts';
import type { Attempt } from './attempt.ts';
import { wrapped } from './error-reports.ts';
import { listOptionsOf } from '../kube/list-options.ts';
import type { RequestContext } from './list-request.ts';
import { answerIn, errorOf, failureOf, malformedIn } from './thrown.ts';
import { WatchPosition } from './watch-position.ts';
import { WatchReader } from './watch-reader.ts';

/** A watch's server ends it after `timeoutSeconds`; this much later it must be gone. */
const WATCH_MARGIN_MS = 30_000;

export interface WatchRequest {
  readonly query: Query;
  readonly isStreamingList: boolean;
  readonly timeoutSeconds: number;
}

/** Rejects for nothing but errors of its own. */
export async function runWatch<T>(
  attempt: Attempt,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { listerWatcher, name } = context;
  let watch: Watch<T>;
  try {
    const options = { ...listOptionsOf(request.query), timeoutSeconds: request.timeoutSeconds };
    watch = await listerWatcher.watch(options, attempt.signal);
    wantWatch(watch, `${name}: WATCH`);
  } catch (thrown) {
    if (!attempt.isClosed) context.fail(failureOf('watch', thrown, `${name}: WATCH`));
    return;
  }
  attempt.onClose(() => stop(watch, context));
  if (!attempt.isClosed) await readWatch(attempt, watch, request, context);
}

/** What has no end of its own could never be stopped. */
function wantWatch(watch: unknown, where: string): void {
  if (isRecord(watch) && typeof watch['stop'] === 'function' && Symbol.asyncIterator in watch) return;
  const message = `${where} gave no watch: it has no stop(), or cannot be iterated`;
  throw new KubeloomError('ERR_KUBELOOM_LIST_WATCH', message);
}

/** What it throws must not reach whoever ends the watch: that may be the user's own `abort()`. */
function stop<T>(watch: Watch<T>, { name, reports }: RequestContext<T>): void {
  try {
    watch.stop();
  } catch (cause) {
    reports.report(wrapped('ERR_KUBELOOM_LIST_WATCH', `${name}: WATCH: stop() failed`, cause), 'watch');
  }
}

async function readWatch<T>(
  attempt: Attempt,
  watch: Watch<T>,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { clock } = context;
  const position = new WatchPosition(request.query, request.isStreamingList, clock.now());
  attempt.position = position;
  const where = `${context.name}: WATCH`;
  const reader = new WatchReader<T>({ ...context, where, position });
  const touch = noticeSilence(attempt, position, request, context);
  context.opened();
  try {
    for await (const event of watch) {
      if (attempt.isClosed) return;
      touch();
      reader.read(event);
      // What the event meant may have ended this watch.
      if (attempt.isClosed) return;
    }
  } catch (thrown) {
    if (attempt.isClosed) return;
    const failure = answerIn('watch', thrown, where) ?? malformedIn(thrown);
    const progress = position.at(clock.now());
    attempt.close();
    if (failure) context.fail(failure);
    else context.dispatch({ type: 'closed', progress, error: errorOf('watch', thrown, where) });
    return;
  }
  if (attempt.isClosed) return;
  attempt.close();
  context.dispatch({ type: 'closed', progress: position.at(clock.now()) });
}

/** @returns what is to be called for every sign of life */
function noticeSilence<T>(
  attempt: Attempt,
  position: WatchPosition,
  request: WatchRequest,
  { clock, name, fail }: RequestContext<T>,
): () => void {
  const where = `${name}: WATCH`;
  const limitMs = request.timeoutSeconds * 1000 + WATCH_MARGIN_MS;
  const watchdog = new Watchdog(clock, limitMs, () => fail(stalled('watch', where, limitMs)));
  attempt.onClose(() => watchdog.stop());
  if (!request.isStreamingList) return () => watchdog.touch();
  const deadline = new InitialEventsDeadline(clock, (waitedMs) => {
    if (position.isInitial) fail(noEndBookmark(where, waitedMs));
  });
  attempt.onClose(() => deadline.stop());
  return () => {
    watchdog.touch();
    if (position.isInitial) deadline.touch();
    else deadline.stop();
  };
}
