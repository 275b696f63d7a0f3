/**
 * The key of a state of the model: what its future depends on, and nothing else. Times count from the present, up to an age from
 * which on nothing depends on them; versions and epochs count from those of the server. Without this, every passing
 * tick would make another state.
 */
import type { World } from './slot-model.ts';

/** No rule of the tests looks further back. */
const AGE_MAX_MS = 12_000;
/** Times by the clock of a member. */
const OWN_TIMES: ReadonlySet<string> = new Set(['sinceMs', 'notBeforeMs', 'untilMs', 'atMs', 'sentMs']);

interface Origin {
  readonly nowMs: number;
  readonly tickMs: number;
  readonly version: number;
  readonly transitions: number;
}

/** @param tickMs duration of a tick @param offsetsMs what the members' clocks show at tick 0 */
export function keyOf(world: World, tickMs: number, offsetsMs: readonly number[]): string {
  const { tick, members, records, epochs, ...rest } = world;
  const origins = records.map((stored, slot) => ({
    tickMs: tick * tickMs,
    version: Number(stored?.source ?? 0),
    transitions: Math.max(stored?.record.leaseTransitions ?? -1, epochs[slot] ?? -1),
  }));
  const relative = (value: unknown, slot: number, nowMs: number): unknown => {
    const { [slot]: origin } = origins;
    return origin ? shifted(value, { ...origin, nowMs }) : value;
  };
  return JSON.stringify({
    rest,
    epochs: epochs.map((epoch, slot) => epoch - (origins[slot]?.transitions ?? 0)),
    records: records.map((stored, slot) => relative(stored, slot, 0)),
    members: members.map(({ slots, ...member }, index) => ({
      ...member,
      slots: slots.map((of, slot) => relative(of, slot, tick * tickMs + (offsetsMs[index] ?? 0))),
    })),
  });
}

function shifted(value: unknown, origin: Origin): unknown {
  if (Array.isArray(value)) return value.map((each) => shifted(each, origin));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, member(name, each, origin)]),
  );
}

function member(name: string, value: unknown, origin: Origin): unknown {
  if (OWN_TIMES.has(name)) return Math.max(Number(value) - origin.nowMs, -AGE_MAX_MS);
  switch (name) {
    // A version that is not the server's is old, whichever it is: no write of it can succeed any more.
    case 'source':
    case 'version':
      return value === undefined ? value : Math.max(Number(value) - origin.version, -1);
    case 'leaseTransitions':
      return Number(value) - origin.transitions;
    case 'renewTime':
      return Math.max(Number(value) - origin.tickMs, -AGE_MAX_MS);
    // It tells no records apart that have been renewed at one time.
    case 'acquireTime':
      return value !== '';
    default:
      return shifted(value, origin);
  }
}
