/**
 * Choice between the calling thread and worker threads, as a pure step; `backends.ts` performs the effects. There is no way
 * back: a change costs a list, and the rate that it was made for mostly comes again.
 *
 * ```
 *  calling thread ── many reads of changes ──► starting ── all are ready ─► worker threads
 *        │ a need                                 ▲   │ one cannot start
 *        └────────────────────────────────────────┤   ▼
 *                                      a need └── on need
 * ```
 */

/**
 * Work of reads that the calling thread does in a second (docs/decisions/0044). A read counts 1, and 1 for each
 * `READ_BYTES`: it is 500 events of 5 KB a second, which cost as much CPU time on one thread as on three.
 */
export const WORK_PER_S = 650;
export const READ_BYTES: number = 16 * 2 ** 10;
/** Work above `WORK_PER_S`, in all, above which worker threads start: five seconds of twice that rate. */
export const WORK_MAX: number = 5 * WORK_PER_S;

export type BackendState =
  /** The option pins the calling thread. */
  | { readonly kind: 'pinned' }
  /** `work`: above `WORK_PER_S`, at `atMs`. */
  | { readonly kind: 'calling-thread'; readonly work: number; readonly atMs: number }
  /** Only a need starts worker threads: one core is given, or they could not be started. */
  | { readonly kind: 'on-need' }
  /** Worker threads load their code, and the calling thread goes on. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'worker-threads' };

export type BackendEvent =
  /** A read of a socket. Lists do not count: a change in the middle would read what came before twice. */
  | { readonly type: 'read'; readonly bytes: number; readonly isListing: boolean; readonly nowMs: number }
  /**
   * An informer with modules, which only a worker thread may run, because it can be ended; or `unref`: sockets of the
   * calling thread keep the process alive.
   */
  | { readonly type: 'need' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed' };

export interface BackendStep {
  readonly state: BackendState;
  /** `start`: start worker threads. `change`: every informer continues on them. */
  readonly effect?: 'start' | 'change';
}

export interface FirstInformer {
  /** Whether only worker threads will do: modules, or `unref`. */
  readonly needsThreads: boolean;
  /** Whether the process has cores for further threads. */
  readonly mayPay: boolean;
}

export function firstBackend(
  indexerThreads: number | 'auto',
  { needsThreads, mayPay }: FirstInformer,
): BackendState {
  if (indexerThreads === 0) return { kind: 'pinned' };
  if (indexerThreads !== 'auto' || needsThreads) return { kind: 'worker-threads' };
  return mayPay ? { kind: 'calling-thread', work: 0, atMs: 0 } : { kind: 'on-need' };
}

export function stepBackend(state: BackendState, event: BackendEvent): BackendStep {
  switch (state.kind) {
    case 'calling-thread':
      if (event.type === 'read') return event.isListing ? { state } : afterRead(state, event);
      return event.type === 'need' ? START : { state };
    case 'on-need':
      return event.type === 'need' ? START : { state };
    case 'starting':
      if (event.type === 'ready') return { state: { kind: 'worker-threads' }, effect: 'change' };
      return { state: event.type === 'failed' ? { kind: 'on-need' } : state };
    default:
      return { state };
  }
}

const START: BackendStep = { state: { kind: 'starting' }, effect: 'start' };

function afterRead(
  { work, atMs }: Extract<BackendState, { kind: 'calling-thread' }>,
  { bytes, nowMs }: Extract<BackendEvent, { type: 'read' }>,
): BackendStep {
  const done = ((nowMs - atMs) / 1000) * WORK_PER_S;
  const left = Math.max(0, work - done) + 1 + bytes / READ_BYTES;
  if (left > WORK_MAX) return START;
  return { state: { kind: 'calling-thread', work: left, atMs: nowMs } };
}
