/**
 * Drives `step` through a list of events and writes the effects of each in one short line, so that a rule
 * reads as a table: events and their effects.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KubeloomError } from '../../../src/base/errors.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { initialState } from '../../../src/reflector/rules/state.ts';
import type {
  Effect,
  Failure,
  FailureKind,
  ReflectorEvent,
  State,
} from '../../../src/reflector/rules/state.ts';
import { step } from '../../../src/reflector/rules/step.ts';
import type { ReflectorSpec } from '../../../src/shared/protocol.ts';

export const SPEC: ReflectorSpec = {
  path: '/api/v1/pods',
  query: {},
  kind: 'Pod',
  apiVersion: 'v1',
  watchList: 'off',
  pageSize: 0,
  objectBytesMax: 2 ** 20,
  watchTimeoutMinSeconds: 300,
  watchTimeoutMaxSeconds: 600,
  backoffInitialMs: 800,
  backoffMaxMs: 30_000,
};

/** An event and its time (milliseconds after the previous one; 0 by default). */
export type Scripted = ReflectorEvent & { readonly afterMs?: number };

export const start: Scripted = { type: 'start' };
export const stop: Scripted = { type: 'stop' };
export const timer: Scripted = { type: 'timer' };
export const opened: Scripted = { type: 'opened' };

export function page(resourceVersion: string, continueToken = ''): Scripted {
  return { type: 'page', resourceVersion, continueToken };
}

export function initialEventsEnd(resourceVersion: string): Scripted {
  return { type: 'initial-events-end', resourceVersion };
}

export function closed(resourceVersion: string, events = 1, durationMs = 60_000): Scripted {
  return { type: 'closed', progress: { resourceVersion, events, durationMs } };
}

/** Returns an error with a code of the script. */
function scripted(code: string): KubeloomError {
  return Object.assign(new KubeloomError('ERR_KUBELOOM_UNEXPECTED', code), { code });
}

export function torn(resourceVersion: string, events = 1, durationMs = 60_000): Scripted {
  const error = scripted('TORN');
  return { type: 'closed', progress: { resourceVersion, events, durationMs }, error };
}

export function failed(kind: FailureKind, options: Partial<Failure> & { at?: string } = {}): Scripted {
  const failure = {
    kind,
    during: options.during ?? 'watch',
    error: options.error ?? scripted(kind.toUpperCase()),
    retryAfterMs: options.retryAfterMs ?? 0,
  };
  if (options.at === undefined) return { type: 'failed', failure };
  return {
    type: 'failed',
    failure,
    progress: { resourceVersion: options.at, events: 1, durationMs: 60_000 },
  };
}

export function later(event: Scripted, afterMs: number): Scripted {
  return { ...event, afterMs };
}

/** Returns the effects of every event without phases, and the state at the end. */
export function play(
  spec: Partial<ReflectorSpec>,
  events: readonly Scripted[],
): { lines: string[]; state: State } {
  let state = initialState({ ...SPEC, ...spec });
  let now = 0;
  const lines: string[] = [];
  for (const event of events) {
    now += event.afterMs ?? 0;
    const result = step(state, event, now);
    state = result.state;
    const effects = result.effects.filter((effect) => effect.type !== 'phase');
    lines.push(effects.map((effect) => describeEffect(effect)).join(', '));
  }
  return { lines, state };
}

/** Returns the phases that a list of events goes through. */
export function phases(spec: Partial<ReflectorSpec>, events: readonly Scripted[]): string[] {
  let state = initialState({ ...SPEC, ...spec });
  const seen: string[] = [];
  for (const event of events) {
    const result = step(state, event, 0);
    state = result.state;
    for (const effect of result.effects) if (effect.type === 'phase') seen.push(effect.phase);
  }
  return seen;
}

const CONTROL_NAMES = new Map<number, string>([
  [DeltaKind.ReplaceBegin, 'begin'],
  [DeltaKind.ReplaceEnd, 'end'],
  [DeltaKind.ReplaceAbort, 'abort'],
  [DeltaKind.Detach, 'detach'],
]);

function describeEffect(effect: Effect): string {
  switch (effect.type) {
    case 'list':
    case 'watch': {
      const renewed = effect.isUnauthorized ? ' (new credentials)' : '';
      return `${effect.type} ${describeQuery(effect.query)}`.trim() + renewed;
    }
    case 'control': {
      const name = CONTROL_NAMES.get(effect.kind) ?? `control ${effect.kind}`;
      return `${name} ${effect.epoch}${effect.resourceVersion === '' ? '' : `@${effect.resourceVersion}`}`;
    }
    case 'wait': {
      const atLeast = effect.delay.atLeastMs > 0 ? ` at least ${effect.delay.atLeastMs}` : '';
      return `wait ${effect.delay.baseMs}${atLeast}`;
    }
    case 'report':
      return `report ${effect.error.code}`;
    default:
      return effect.type;
  }
}

function describeQuery(query: Readonly<Record<string, string>>): string {
  const words: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name === 'watch' || name === 'allowWatchBookmarks') continue;
    if (name === 'resourceVersion') words.push(`rv=${value}`);
    else if (name === 'sendInitialEvents') words.push('streaming');
    else if (name !== 'resourceVersionMatch') words.push(`${name}=${value}`);
  }
  return words.join(' ');
}

/** An event and its effects. */
export type Row = readonly [event: Scripted, effects: string];

export function table(title: string, spec: Partial<typeof SPEC>, rows: readonly Row[]): void {
  it(title, () => {
    const { lines } = play(
      spec,
      rows.map(([event]) => event),
    );
    assert.deepEqual(
      lines,
      rows.map(([, effects]) => effects),
    );
  });
}

/** The beginning of the first list. */
export const listing: readonly Row[] = [
  [start, 'list rv=0 limit=500'],
  [opened, 'begin 1'],
];

/** The first list, and the watch after it. */
export const synced: readonly Row[] = [...listing, [page('10'), 'end 1@10, watch rv=10'], [opened, '']];

/** The first page of a list in pages. */
export const paged: readonly Row[] = [...listing, [page('10', 'token'), 'list limit=500 continue=token']];

export const AUTO = { watchList: 'auto' } as const;

/** The beginning of the first streaming list. */
export const streaming: readonly Row[] = [
  [start, 'watch streaming'],
  [opened, 'begin 1'],
];

/** The first streaming list, at version 20. */
export const streamed: readonly Row[] = [...streaming, [initialEventsEnd('20'), 'end 1@20']];
