/**
 * Faults as data, and the rules in force: the requests and streams that a rule strikes, and the effect. The rules of a
 * scenario are set together, with a common seed for all random choices. Every strike is recorded (`LandedFault`),
 * because a test whose fault did not strike is not a proof.
 */

import type { Clock } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { Status } from '../store/status.ts';

/** Faults of a server, as a list of rules. */
export interface FaultScenario {
  /** Seed of the choices that rules leave open, such as the position of a cut in a line. Default 1. */
  readonly seed?: number;
  /** Rules that come into force together, in addition to earlier rules. */
  readonly rules: readonly ScenarioRule[];
}

/** A rule of faults. */
export interface ScenarioRule {
  /** Name of the fault in `healFaults` and `landedFaults`; several rules may share it. */
  readonly faultId: string;
  /** Requests and streams that the rule strikes. Default: all to which the action applies. */
  readonly match?: ScenarioMatch;
  /** Number of strikes. Default 1; `always` strikes until the rule is healed. */
  readonly times?: number | 'always';
  /** Effect of a strike. */
  readonly action: FaultAction;
}

/** The conditions of a rule; all given conditions must hold. */
export interface ScenarioMatch {
  /** Kind of the request. Default: any kind. */
  readonly verb?: FaultVerb;
  /** `GET` */
  readonly method?: string;
  /** A part of the path. */
  readonly path?: string;
  /** `pods` */
  readonly resource?: string;
  /**
   * Number of the TCP connection since the server started, from 1; or every `of`-th connection, beginning with number
   * `is`.
   */
  readonly connection?: number | { readonly of: number; readonly is: number };
  /** Spares the first `nth` - 1 matching requests. */
  readonly nth?: number;
  /** Spares this many events of each stream. Without this condition a rule strikes a stream as soon as it applies. */
  readonly afterEvents?: number;
  /** The resourceVersion of the request, '' for none. */
  readonly resourceVersion?: string;
  /** Query parameters and their values; '' for a parameter that is absent. */
  readonly query?: Readonly<Record<string, string>>;
  /** The bearer token of the request. */
  readonly token?: string;
}

/** `list` and `watch` are the reads of resources; discovery and writes are `other`. */
export type FaultVerb = 'list' | 'watch' | 'other';

/** Fault of a request or of a watch. */
export type FaultAction = RequestAction | StreamAction;

/** A fault that strikes before an answer, or in place of it. */
export type RequestAction =
  /** An object as body is sent as JSON. Default: the Status of the code. */
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly body?: object | string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly retryAfterSeconds?: number;
    }
  /** 200 and a body in an encoding that the client did not accept. */
  | { readonly type: 'encoded'; readonly encoding: string; readonly body: 'truncated' | 'bomb' }
  | { readonly type: 'reset' }
  /** The request is never answered. */
  | { readonly type: 'hang' }
  /** The request is answered when the fault is healed, or after `holdMs`. */
  | { readonly type: 'hold'; readonly holdMs?: number }
  /** A replica that is `revisions` behind answers, until the fault is healed. */
  | { readonly type: 'lag'; readonly revisions: number }
  /** The server ignores `sendInitialEvents`, like servers without streaming lists. */
  | { readonly type: 'no-initial-events' }
  /** These members replace members of the list's metadata. */
  | { readonly type: 'list-metadata'; readonly set: Readonly<Record<string, string>> }
  /** Every resourceVersion gets a prefix and is padded to `digits`, in answers and in requests. */
  | { readonly type: 'versions'; readonly prefix: string; readonly digits: number };

/** A fault that strikes the stream of a watch. */
export type StreamAction =
  /** The stream ends as by an ordinary timeout. */
  | { readonly type: 'end' }
  /** The connection ends in the middle of the next line, after `bytes` of it (default: random). */
  | { readonly type: 'cut'; readonly bytes?: number; readonly how: 'end' | 'reset' }
  | { readonly type: 'error-event'; readonly status: Partial<Status> }
  /** Additional lines are sent, in base64 when they are not text. */
  | { readonly type: 'insert'; readonly lines: readonly string[]; readonly isBase64?: boolean }
  | { readonly type: 'duplicate' }
  /** The next lines of this type are dropped. */
  | { readonly type: 'drop'; readonly of: EventType }
  /** After an event, an older event of the same object is sent again. */
  | { readonly type: 'older' }
  /** An event is sent after the next event of another object. */
  | { readonly type: 'swap' }
  | { readonly type: 'retype'; readonly from: EventType; readonly to: string }
  /** The object of the next event gets an additional member; name and value are given raw, in base64. */
  | { readonly type: 'graft'; readonly name: string; readonly value: string }
  /** A bookmark at the last event's resourceVersion plus `offset` is sent. */
  | { readonly type: 'bookmark'; readonly offset: number; readonly metadata?: object | null }
  /** An endless line is sent. */
  | { readonly type: 'endless-line'; readonly megabytes: number }
  /** The stream stays open but silent until the fault is healed. */
  | { readonly type: 'mute' };

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** A fault that struck. */
export interface LandedFault {
  /** `faultId` of the rule. */
  readonly faultId: string;
  /** Type of the action of the rule. */
  readonly action: FaultAction['type'];
  /** Milliseconds since the epoch, by the monotonic clock. */
  readonly atMs: number;
  /** The struck request: verb, path, connection, resourceVersion, number of events before, … */
  readonly evidence: Readonly<Record<string, string | number>>;
}

/** @internal The properties of a request that rules can match. */
export interface RequestFacts {
  readonly verb: FaultVerb;
  /** Empty for discovery and other documents. */
  readonly resource: string;
  readonly method: string;
  readonly path: string;
  readonly connection: number;
  readonly token: string;
  readonly query: URLSearchParams;
}

function matches(match: ScenarioMatch, facts: RequestFacts): boolean {
  const { verb, method, path, resource, connection, resourceVersion, token, query = {} } = match;
  return (
    (verb === undefined || verb === facts.verb) &&
    (method === undefined || method === facts.method) &&
    (path === undefined || facts.path.includes(path)) &&
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

/** Whether an action strikes a stream as soon as it applies, or with the next event. */
const STREAM_ACTIONS: Readonly<Record<StreamAction['type'], 'at once' | 'with an event'>> = {
  end: 'at once',
  'error-event': 'at once',
  insert: 'at once',
  bookmark: 'at once',
  'endless-line': 'at once',
  mute: 'at once',
  cut: 'with an event',
  duplicate: 'with an event',
  drop: 'with an event',
  older: 'with an event',
  swap: 'with an event',
  retype: 'with an event',
  graft: 'with an event',
};

function isStreamAction(action: FaultAction): action is StreamAction {
  return Object.hasOwn(STREAM_ACTIONS, action.type);
}

/** @internal */
export function isAtOnce({ type }: StreamAction): boolean {
  return STREAM_ACTIONS[type] === 'at once';
}

/** @internal A rule and the number of strikes that remain. */
export interface ArmedRule<A = ScenarioRule['action']> {
  readonly rule: ScenarioRule & { readonly action: A };
  /** Number of matching requests that were spared. */
  spared: number;
  left: number;
  isHealed: boolean;
  readonly whenHealed: Promise<void>;
  readonly heal: () => void;
}

/** @internal The engine's notifications to an open stream. */
export interface StruckStream {
  readonly facts: RequestFacts;
  arm(armed: ArmedRule<StreamAction>): void;
  /** Ends a fault on this stream. */
  healed(): void;
}

const LANDED_MAX = 10_000;

/**
 * The rules in force and the faults that have struck. Requests query it. It notifies open streams when a rule is added
 * or healed, so that a rule also strikes a watch that is already open.
 *
 * @internal
 */
export class FaultEngine {
  #armed: ArmedRule[] = [];
  #landed: LandedFault[] = [];
  readonly #streams = new Set<StruckStream>();
  readonly clock: Clock;
  random: () => number = seededRandom(1);

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Adds rules to those in force. */
  set({ seed = 1, rules }: FaultScenario): void {
    this.random = seededRandom(seed);
    for (const rule of rules) {
      const left = rule.times === 'always' ? Number.POSITIVE_INFINITY : (rule.times ?? 1);
      let heal = (): void => undefined;
      const whenHealed = new Promise<void>((resolve) => (heal = resolve));
      const armed: ArmedRule = { rule, spared: 0, left, isHealed: false, whenHealed, heal };
      this.#armed.push(armed);
      for (const stream of this.#streams) this.#armStream(stream, armed);
    }
  }

  /** Ends a rule, or all rules. */
  heal(faultId?: string): void {
    const gone = this.#armed.filter(({ rule }) => faultId === undefined || rule.faultId === faultId);
    this.#armed = this.#armed.filter((armed) => !gone.includes(armed));
    for (const armed of gone) {
      armed.isHealed = true;
      armed.left = 0;
      armed.heal();
    }
    for (const stream of this.#streams) stream.healed();
  }

  get landed(): LandedFault[] {
    return this.#landed.slice(-LANDED_MAX);
  }

  land({ rule }: ArmedRule, facts: RequestFacts, more: Readonly<Record<string, string | number>> = {}): void {
    const { verb, path, connection, query } = facts;
    this.#landed.push({
      faultId: rule.faultId,
      action: rule.action.type,
      atMs: performance.timeOrigin + this.clock.now(),
      evidence: { verb, path, connection, resourceVersion: query.get('resourceVersion') ?? '', ...more },
    });
    if (this.#landed.length > 2 * LANDED_MAX) this.#landed = this.landed;
  }

  /** Returns the rules that strike this request, and records and counts each strike. */
  strike(facts: RequestFacts): ArmedRule<RequestAction>[] {
    const struck: ArmedRule<RequestAction>[] = [];
    for (const armed of this.#armed) {
      if (isStreamAction(armed.rule.action) || !this.#applies(armed, facts)) continue;
      armed.left--;
      this.land(armed, facts);
      struck.push(armed as ArmedRule<RequestAction>);
    }
    return struck;
  }

  opened(stream: StruckStream): void {
    this.#streams.add(stream);
    for (const armed of this.#armed) this.#armStream(stream, armed);
  }

  closed(stream: StruckStream): void {
    this.#streams.delete(stream);
  }

  #armStream(stream: StruckStream, armed: ArmedRule): void {
    if (!isStreamAction(armed.rule.action) || !this.#applies(armed, stream.facts)) return;
    stream.arm(armed as ArmedRule<StreamAction>);
  }

  #applies(armed: ArmedRule, facts: RequestFacts): boolean {
    const { match = {} } = armed.rule;
    if (armed.left <= 0 || !matches(match, facts)) return false;
    if (armed.spared + 1 >= (match.nth ?? 1)) return true;
    armed.spared++;
    return false;
  }
}
