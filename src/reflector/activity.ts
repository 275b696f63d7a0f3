/**
 * Lists and watches of one reflector, seen from outside: derived from the transitions of `step`, whose rules do not depend
 * on metrics. A list lasts from the first request to the last page or end bookmark. A watch lasts from the server's
 * answer, or from the end bookmark, until it closes.
 */
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import type { Activity, FailureReason, ListCause, ListMode, WatchEnd } from '../shared/activity.ts';
import { ActivityCounter } from '../shared/activity.ts';
import type { ListMeter } from './reports.ts';
import type { Effect, FailureKind, ReflectorEvent, State, Step } from './rules/state.ts';

/** The list or watch in progress. `cause`: the reason for the list in progress, or for the next list. */
export type Observed =
  | { readonly kind: 'between'; readonly cause: ListCause }
  | { readonly kind: 'list'; readonly cause: ListCause; readonly mode: ListMode; readonly sinceMs: number }
  | { readonly kind: 'watch'; readonly cause: ListCause; readonly sinceMs: number };

/** The end of a list or watch, or the start of a watch, without the figures that only the session counts. */
export type Observation =
  | {
      readonly kind: 'list';
      readonly mode: ListMode;
      readonly cause: ListCause;
      readonly result: string;
      /** Whether the server had accepted it, so that it may have items. */
      readonly isOpen: boolean;
      readonly durationMs: number;
    }
  | { readonly kind: 'watch-started' }
  | { readonly kind: 'watch'; readonly reason: WatchEnd; readonly durationMs: number };

export const UNOBSERVED: Observed = { kind: 'between', cause: 'initial' };

/** Derives from one transition what ended or started with it, and what is in progress after it. */
export function observe(
  observed: Observed,
  before: State,
  event: ReflectorEvent,
  { state: after, effects }: Step,
  nowMs: number,
): { readonly observed: Observed; readonly observations: readonly Observation[] } {
  if (after === before || (observed.kind === 'list' && continues(before, event, after))) {
    return { observed, observations: [] };
  }
  const observations: Observation[] = [];
  if (observed.kind === 'list') {
    const { mode, cause, sinceMs } = observed;
    const [result, isOpen] = [resultOf(event, after, effects), isReplacing(before)];
    observations.push({ kind: 'list', mode, cause, result, isOpen, durationMs: nowMs - sinceMs });
  } else if (observed.kind === 'watch') {
    observations.push({
      kind: 'watch',
      reason: watchEnd(event, after),
      durationMs: nowMs - observed.sinceMs,
    });
  }
  const next = begun(causeAfter(before, event, after) ?? observed.cause, event, after, nowMs);
  if (next.kind === 'watch') observations.push({ kind: 'watch-started' });
  return { observed: next, observations };
}

/** Returns whether the list in progress goes on. */
function continues(before: State, event: ReflectorEvent, after: State): boolean {
  if (event.type === 'opened') return true;
  if (event.type === 'page') return after.kind === 'listing';
  // A first refusal of the credentials is no failure: the same list asks again with fresh credentials.
  return event.type === 'failed' && event.failure.kind === 'unauthorized' && after.kind === before.kind;
}

function begun(cause: ListCause, { type }: ReflectorEvent, { kind }: State, sinceMs: number): Observed {
  if (kind === 'streaming-list') return { kind: 'list', mode: 'stream', cause, sinceMs };
  if (kind === 'listing') return { kind: 'list', mode: 'pages', cause, sinceMs };
  const isWatch = kind === 'watching' && (type === 'opened' || type === 'initial-events-end');
  return isWatch ? { kind: 'watch', cause, sinceMs } : { kind: 'between', cause };
}

/** Returns the reason that an event gives for a list after it; undefined when it gives none. */
function causeAfter(before: State, event: ReflectorEvent, after: State): ListCause | undefined {
  switch (event.type) {
    case 'start':
      return before.kind === 'idle' && before.memory.epoch > 0 ? 'restarted' : 'initial';
    case 'failed': {
      const isRefused = before.kind === 'streaming-list' && !before.isReplacing && after.kind === 'listing';
      return isRefused && event.failure.kind === 'other' ? 'unsupported' : REASONS[event.failure.kind];
    }
    case 'closed':
      return before.kind === 'streaming-list' ? 'cut_off' : 'short_watch';
    case 'page':
      return 'error';
    default:
      return undefined;
  }
}

function resultOf(event: ReflectorEvent, after: State, effects: readonly Effect[]): string {
  if (event.type === 'stop') return 'stopped';
  if (after.kind === 'watching') return 'ok';
  for (const effect of effects) if (effect.type === 'report') return effect.error.code;
  return event.type === 'failed' ? event.failure.error.code : 'cut_off';
}

function watchEnd(event: ReflectorEvent, after: State): WatchEnd {
  if (event.type === 'failed') return REASONS[event.failure.kind];
  if (event.type !== 'closed') return 'stopped';
  if (after.kind === 'backing-off') return 'short_watch';
  return event.error ? 'torn' : 'server';
}

function isReplacing(state: State): boolean {
  return (
    (state.kind === 'streaming-list' && state.isReplacing) ||
    (state.kind === 'listing' && state.list.isReplacing)
  );
}

const REASONS: Readonly<Record<FailureKind, FailureReason>> = {
  expired: 'expired',
  'too-large': 'too_large',
  unreachable: 'unreachable',
  'too-many-requests': 'too_many_requests',
  unauthorized: 'unauthorized',
  'internal-error': 'internal_error',
  malformed: 'malformed',
  'went-back': 'went_back',
  stalled: 'silence',
  'no-end-bookmark': 'no_end_bookmark',
  other: 'error',
};

/** Codes of reports by which an object or event was ignored, and their counters. */
const IGNORED: ReadonlyMap<ErrorCode, ActivityCounter> = new Map([
  ['ERR_KUBELOOM_OBJECT_WITHOUT_NAME', ActivityCounter.Nameless],
  ['ERR_KUBELOOM_NO_RESOURCE_VERSION', ActivityCounter.Unversioned],
  ['ERR_KUBELOOM_UNEXPECTED_OBJECT', ActivityCounter.Unexpected],
  ['ERR_KUBELOOM_OBJECT_TOO_LARGE', ActivityCounter.TooLarge],
  ['ERR_KUBELOOM_OUT_OF_ORDER', ActivityCounter.OutOfOrder],
]);

/** Observes the steps of a reflector, and posts changes with the figures of lists and watches. */
export class ActivityReports {
  readonly #counts: Float64Array;
  readonly #post: (activity: Activity) => void;
  #observed: Observed = UNOBSERVED;
  #unposted: ((meter: ListMeter) => Activity)[] = [];
  /** Number of events when the watch in progress started. */
  #eventsBefore = 0;

  /** @param counts the counters of the reflector */
  constructor(counts: Float64Array, post: (activity: Activity) => void) {
    this.#counts = counts;
    this.#post = post;
  }

  stepped(before: State, event: ReflectorEvent, step: Step, nowMs: number): void {
    const { observed, observations } = observe(this.#observed, before, event, step, nowMs);
    this.#observed = observed;
    for (const observation of observations) this.#unposted.push(this.#withFigures(observation));
  }

  /** Counts an ignored object or event, if the reported error concerns either. */
  reported(code: ErrorCode): void {
    const counter = IGNORED.get(code);
    if (counter !== undefined) (this.#counts[counter] as number)++;
  }

  /** Posts the changes of an input; called when the input ends, when all bytes of a list are counted. */
  post(meter: ListMeter): void {
    const unposted = this.#unposted;
    this.#unposted = [];
    for (const complete of unposted) this.#post(complete(meter));
  }

  #withFigures(observation: Observation): (meter: ListMeter) => Activity {
    if (observation.kind === 'list') {
      const { isOpen, ...list } = observation;
      return ({ items, bytes }) => ({ ...list, items: isOpen ? items : 0, bytes: isOpen ? bytes : 0 });
    }
    let events = 0;
    for (let type = 0; type <= ActivityCounter.ErrorEvents; type++) events += this.#counts[type] ?? 0;
    if (observation.kind === 'watch') {
      const activity = { ...observation, events: events - this.#eventsBefore };
      return () => activity;
    }
    this.#eventsBefore = events;
    return () => observation;
  }
}
