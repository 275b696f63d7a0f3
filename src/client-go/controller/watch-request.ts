/** Opens one watch, or streaming list, and reads it until it ends, fails, times out, or is cancelled. */
import { KubeloomError, wrapped } from '../../base/errors.ts';
import type { Watch } from '../../kube/list-watch.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { noEndBookmark, stalled } from '../../reflector/rules/failure.ts';
import { InitialEventsDeadline } from '../../reflector/initial-events-deadline.ts';
import { Watchdog } from '../../reflector/watchdog.ts';
import type { Query } from '../../shared/protocol.ts';
import type { RequestAttempt } from './request-attempt.ts';
import { listOptionsOf } from '../../kube/list-watch.ts';
import type { RequestContext } from './list-request.ts';
import { answerIn, errorOf, failureOf, malformedIn } from './lister-watcher-errors.ts';
import { WatchProgress } from './watch-progress.ts';
import { WatchReader } from './watch-reader.ts';

/** The server ends a watch after `timeoutSeconds`; a watch that lasts this much longer is ended by the client. */
const WATCH_MARGIN_MS = 30_000;

export interface WatchRequest {
  readonly query: Query;
  readonly isStreamingList: boolean;
  readonly timeoutSeconds: number;
}

/** Runs a watch. Rejects only for internal errors. */
export async function runWatch<T>(
  attempt: RequestAttempt,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { listerWatcher, name } = context;
  let watch: Watch<T>;
  try {
    const options = { ...listOptionsOf(request.query), timeoutSeconds: request.timeoutSeconds };
    watch = await listerWatcher.watch(options, attempt.signal);
    requireWatch(watch, `${name}: WATCH`);
  } catch (thrown) {
    if (!attempt.isClosed) context.fail(failureOf('watch', thrown, `${name}: WATCH`));
    return;
  }
  attempt.onClose(() => stop(watch, context));
  if (!attempt.isClosed) await readWatch(attempt, watch, request, context);
}

/** Throws unless the value is a watch. A watch without `stop` could not be ended. */
function requireWatch(watch: unknown, where: string): void {
  if (isRecord(watch) && typeof watch['stop'] === 'function' && Symbol.asyncIterator in watch) return;
  const message = `${where} returned no watch: it has no stop(), or is not iterable`;
  throw new KubeloomError('ERR_KUBELOOM_LIST_WATCH', message);
}

/** Stops the watch and reports an error. It must not reach the caller, which may be the user's own `abort()`. */
function stop<T>(watch: Watch<T>, { name, reports }: RequestContext<T>): void {
  try {
    watch.stop();
  } catch (cause) {
    reports.report(wrapped('ERR_KUBELOOM_LIST_WATCH', `${name}: WATCH: stop() failed`, cause), 'watch');
  }
}

async function readWatch<T>(
  attempt: RequestAttempt,
  watch: Watch<T>,
  request: WatchRequest,
  context: RequestContext<T>,
): Promise<void> {
  const { clock } = context;
  const progress = new WatchProgress(request.query, request.isStreamingList, clock.now());
  attempt.progress = progress;
  const where = `${context.name}: WATCH`;
  const reader = new WatchReader<T>({ ...context, where, progress });
  const touch = noticeSilence(attempt, progress, request, context);
  context.opened();
  try {
    for await (const event of watch) {
      if (attempt.isClosed) return;
      touch();
      reader.read(event);
      // The event may have ended this watch.
      if (attempt.isClosed) return;
    }
  } catch (thrown) {
    if (attempt.isClosed) return;
    const failure = answerIn('watch', thrown, where) ?? malformedIn(thrown);
    const reached = progress.at(clock.now());
    attempt.close();
    if (failure) context.fail(failure);
    else context.dispatch({ type: 'closed', progress: reached, error: errorOf('watch', thrown, where) });
    return;
  }
  if (attempt.isClosed) return;
  attempt.close();
  context.dispatch({ type: 'closed', progress: progress.at(clock.now()) });
}

/** @returns a function to call for every received byte or event */
function noticeSilence<T>(
  attempt: RequestAttempt,
  progress: WatchProgress,
  request: WatchRequest,
  { clock, name, fail }: RequestContext<T>,
): () => void {
  const where = `${name}: WATCH`;
  const limitMs = request.timeoutSeconds * 1000 + WATCH_MARGIN_MS;
  const watchdog = new Watchdog(clock, limitMs, () => fail(stalled('watch', where, limitMs)));
  attempt.onClose(() => watchdog.stop());
  if (!request.isStreamingList) return () => watchdog.touch();
  const deadline = new InitialEventsDeadline(clock, (waitedMs) => {
    if (progress.isInitial) fail(noEndBookmark(where, waitedMs));
  });
  attempt.onClose(() => deadline.stop());
  return () => {
    watchdog.touch();
    if (progress.isInitial) deadline.touch();
    else deadline.stop();
  };
}
