/**
 * The rules in force and the faults that have struck. Requests query it. It notifies open streams when a rule
 * is added or healed, so that a rule strikes a watch that was open before.
 */

import { isStreamAction, matches } from './fault-rules.ts';
import type {
  FaultScenario,
  LandedFault,
  RequestAction,
  RequestFacts,
  ScenarioRule,
  StreamAction,
} from './fault-rules.ts';
import { seededRandom } from './random.ts';

/** A rule and the number of strikes that remain. */
export interface ArmedRule<A = ScenarioRule['action']> {
  readonly rule: ScenarioRule & { readonly action: A };
  /** Number of matching requests that were spared. */
  spared: number;
  left: number;
  isHealed: boolean;
  readonly whenHealed: Promise<void>;
  readonly heal: () => void;
}

/** The engine's notifications to an open stream. */
export interface StruckStream {
  readonly facts: RequestFacts;
  arm(armed: ArmedRule<StreamAction>): void;
  /** Ends a fault on this stream. */
  healed(): void;
}

const LANDED_MAX = 10_000;

export class FaultEngine {
  #armed: ArmedRule[] = [];
  #landed: LandedFault[] = [];
  readonly #streams = new Set<StruckStream>();
  random: () => number = seededRandom(1);

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

  /** Ends one rule, or all. */
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
      atMs: performance.timeOrigin + performance.now(),
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
