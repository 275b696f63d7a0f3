/**
 * The server's log as one informer must see it: only what its scope selects, where an object that begins to match
 * is added and one that ceases to match is deleted. Positions count its events; position 0 is before the first.
 */
import type { ChangeType, Commit, Scope } from './histories.ts';

export interface TruthEvent {
  readonly revision: number;
  readonly type: ChangeType;
  readonly key: string;
  readonly uid: string | undefined;
  /** Undefined also for a deletion that is none: its body is that of the state before. */
  readonly hash: string | undefined;
}

/** Key → the event that made it what it is. */
export type State = ReadonlyMap<string, TruthEvent>;

const STATES_MAX = 16;

export class Truth {
  readonly events: readonly TruthEvent[];
  readonly #byRevision: ReadonlyMap<number, number>;
  readonly #states = new Map<number, State>();

  constructor(commits: readonly Commit[], scope: Scope = {}) {
    this.events = select(commits, scope);
    this.#byRevision = new Map(this.events.map(({ revision }, index) => [revision, index]));
  }

  /** The event with exactly this revision. */
  at(revision: number): TruthEvent | undefined {
    const index = this.#byRevision.get(revision);
    return index === undefined ? undefined : this.events[index];
  }

  /** How many events have a revision up to this one. */
  position(revision: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** After so many events. A few are remembered: who asks for one asks for its neighbours. */
  state(position: number): State {
    const known = this.#states.get(position);
    if (known) return known;
    const near = [...this.#states.keys()].filter((one) => one < position).reduce((a, b) => Math.max(a, b), 0);
    const state = new Map(this.#states.get(near));
    for (const event of this.events.slice(near, position)) {
      if (event.type === 'DELETED') state.delete(event.key);
      else state.set(event.key, event);
    }
    this.#states.set(position, state);
    const oldest = this.#states.keys().next().value;
    if (this.#states.size > STATES_MAX && oldest !== undefined) this.#states.delete(oldest);
    return state;
  }
}

function select(commits: readonly Commit[], scope: Scope): TruthEvent[] {
  const matching = new Set<string>();
  const events: TruthEvent[] = [];
  for (const commit of commits) {
    const { revision, key, uid, hash } = commit;
    const isBefore = matching.has(key);
    const isAfter = commit.type !== 'DELETED' && isSelected(commit, scope);
    if (isAfter) {
      matching.add(key);
      events.push({ revision, type: isBefore ? 'MODIFIED' : 'ADDED', key, uid, hash });
    } else if (isBefore) {
      matching.delete(key);
      const isReal = commit.type === 'DELETED';
      events.push({ revision, type: 'DELETED', key, uid, hash: isReal ? hash : undefined });
    }
  }
  return events;
}

function isSelected({ key, labels = {} }: Commit, scope: Scope): boolean {
  if (scope.namespace !== undefined && !key.startsWith(`${scope.namespace}/`)) return false;
  return Object.entries(scope.labels ?? {}).every(([name, value]) => labels[name] === value);
}
