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
  /** Hash of its last body. Undefined also for a deletion whose body is that of the state before. */
  readonly hash: string | undefined;
  /** Hashes of earlier bodies under the same revision, from before a server's restore. */
  readonly formerHashes: readonly string[];
}

/** Key → its latest event. */
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

  get last(): State {
    return this.state(this.events.length);
  }

  /** Returns the event with exactly this revision. */
  at(revision: number): TruthEvent | undefined {
    const index = this.#byRevision.get(revision);
    return index === undefined ? undefined : this.events[index];
  }

  /** Returns the number of events up to this revision. */
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

  /** Returns the state after a number of events. Remembers some states, because callers ask for neighbours next. */
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
  const byRevision = new Map<number, number>();
  const push = (event: Omit<TruthEvent, 'formerHashes'>): void => {
    byRevision.set(event.revision, events.push({ ...event, formerHashes: [] }) - 1);
  };
  for (const commit of commits) {
    if (commit.type === 'REWRITTEN') {
      rewrite(events, byRevision.get(commit.revision), commit);
      continue;
    }
    const { revision, key, uid, hash } = commit;
    const isBefore = matching.has(key);
    const isAfter = commit.type !== 'DELETED' && isSelected(commit, scope);
    if (isAfter) {
      matching.add(key);
      push({ revision, type: isBefore ? 'MODIFIED' : 'ADDED', key, uid, hash });
    } else if (isBefore) {
      matching.delete(key);
      const isReal = commit.type === 'DELETED';
      push({ revision, type: 'DELETED', key, uid, hash: isReal ? hash : undefined });
    }
  }
  return events;
}

/** Changes the body of the event. An object that is not selected has no event, or one that deletes it. */
function rewrite(events: TruthEvent[], index: number | undefined, { hash }: Commit): void {
  const event = index === undefined ? undefined : events[index];
  if (index === undefined || event === undefined || event.type === 'DELETED') return;
  const formerHashes = event.hash === undefined ? [] : [...event.formerHashes, event.hash];
  events[index] = { ...event, hash, formerHashes };
}

function isSelected({ key, labels = {} }: Commit, scope: Scope): boolean {
  if (scope.namespace !== undefined && !key.startsWith(`${scope.namespace}/`)) return false;
  return Object.entries(scope.labels ?? {}).every(([name, value]) => labels[name] === value);
}
