/**
 * Faults as data: which requests and streams a rule strikes, and what happens to them. Rules are set together, with
 * the seed of everything that is left to chance, and every strike is written down (`LandedFault`): a test whose fault
 * did not land has tested nothing.
 */

import type { Status } from './status.ts';

export interface FaultScenario {
  /** Of what the rules leave open, e.g. where a line is cut. Default 1. */
  readonly seed?: number;
  readonly rules: readonly ScenarioRule[];
}

export interface ScenarioRule {
  readonly faultId: string;
  readonly match?: ScenarioMatch;
  /** How often it strikes. Default 1; `always` until it is healed. */
  readonly times?: number | 'always';
  readonly action: FaultAction;
}

/** Everything that is given has to apply. */
export interface ScenarioMatch {
  readonly verb?: FaultVerb;
  /** `pods` */
  readonly resource?: string;
  /** The number of the TCP connection since the server started, from 1; or every `of`th beginning with number `is`. */
  readonly connection?: number | { readonly of: number; readonly is: number };
  /** Spares the matching requests before this one, counted from 1. */
  readonly nth?: number;
  /** Spares so many events of each stream. Without it a stream is struck as soon as the rule applies to it. */
  readonly afterEvents?: number;
  /** What the request asks for, '' for none. */
  readonly resourceVersion?: string;
  /** Query parameters and their values; '' for one that is absent. */
  readonly query?: Readonly<Record<string, string>>;
  /** The bearer token of the request. */
  readonly token?: string;
}

export type FaultVerb = 'list' | 'watch' | 'other';

export type FaultAction = RequestAction | StreamAction;

/** Strikes before or in place of an answer. */
export type RequestAction =
  /** A body that is an object is sent as JSON. Default: the Status of that code. */
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly body?: object | string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly retryAfterSeconds?: number;
    }
  /** 200 and a body in an encoding that nobody asked for. */
  | { readonly type: 'encoded'; readonly encoding: string; readonly body: 'truncated' | 'bomb' }
  | { readonly type: 'reset' }
  /** Never answered. */
  | { readonly type: 'hang' }
  /** Answered when the fault is healed, or after so long. */
  | { readonly type: 'hold'; readonly holdMs?: number }
  /** Answered by a replica that is so many revisions behind, until the fault is healed. */
  | { readonly type: 'lag'; readonly revisions: number }
  /** `sendInitialEvents` is ignored, as by servers that do not know it. */
  | { readonly type: 'no-initial-events' }
  /** The list's metadata has these members in place of its own. */
  | { readonly type: 'list-metadata'; readonly set: Readonly<Record<string, string>> }
  /** Every resourceVersion gets a prefix and is padded to so many digits, in answers and in requests. */
  | { readonly type: 'versions'; readonly prefix: string; readonly digits: number };

/** Strikes the stream of a watch. */
export type StreamAction =
  /** As an ordinary timeout. */
  | { readonly type: 'end' }
  /** In the middle of the next line; `bytes` of it are sent, by default some. */
  | { readonly type: 'cut'; readonly bytes?: number; readonly how: 'end' | 'reset' }
  | { readonly type: 'error-event'; readonly status: Partial<Status> }
  /** Lines of their own, as base64 when they are no text. */
  | { readonly type: 'insert'; readonly lines: readonly string[]; readonly isBase64?: boolean }
  | { readonly type: 'duplicate' }
  /** The next lines of this type are not sent. */
  | { readonly type: 'drop'; readonly of: EventType }
  /** After an event comes an older one of the same object once more. */
  | { readonly type: 'older' }
  /** An event comes after the next one of another object. */
  | { readonly type: 'swap' }
  | { readonly type: 'retype'; readonly from: EventType; readonly to: string }
  /** The object of the next event has one more member: its name and its value, raw and in base64. */
  | { readonly type: 'graft'; readonly name: string; readonly value: string }
  /** A bookmark at the last event's resourceVersion plus `offset`. */
  | { readonly type: 'bookmark'; readonly offset: number; readonly metadata?: object | null }
  /** A line that has no end. */
  | { readonly type: 'endless-line'; readonly megabytes: number }
  /** Open, and nothing comes until the fault is healed. */
  | { readonly type: 'mute' };

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** A strike. */
export interface LandedFault {
  readonly faultId: string;
  readonly action: FaultAction['type'];
  /** Milliseconds since the epoch, by the monotonic clock. */
  readonly atMs: number;
  /** What was struck: verb, path, connection, resourceVersion, events before, … */
  readonly evidence: Readonly<Record<string, string | number>>;
}

/** A request, as far as rules look at it. */
export interface RequestFacts {
  readonly verb: FaultVerb;
  readonly resource: string;
  readonly path: string;
  readonly connection: number;
  readonly token: string;
  readonly query: URLSearchParams;
}

export function matches(match: ScenarioMatch, facts: RequestFacts): boolean {
  const { verb, resource, connection, resourceVersion, token, query = {} } = match;
  return (
    (verb === undefined || verb === facts.verb) &&
    (resource === undefined || resource === facts.resource) &&
    (connection === undefined || isConnection(connection, facts.connection)) &&
    (resourceVersion === undefined || resourceVersion === (facts.query.get('resourceVersion') ?? '')) &&
    (token === undefined || token === facts.token) &&
    Object.entries(query).every(([name, value]) => value === (facts.query.get(name) ?? ''))
  );
}

function isConnection(wanted: NonNullable<ScenarioMatch['connection']>, connection: number): boolean {
  if (typeof wanted === 'number') return wanted === connection;
  return connection % wanted.of === wanted.is % wanted.of;
}

const STREAM_ACTIONS: ReadonlySet<string> = new Set<StreamAction['type']>([
  'end',
  'cut',
  'error-event',
  'insert',
  'duplicate',
  'drop',
  'older',
  'swap',
  'retype',
  'graft',
  'bookmark',
  'endless-line',
  'mute',
]);

export function isStreamAction(action: FaultAction): action is StreamAction {
  return STREAM_ACTIONS.has(action.type);
}
