/**
 * The proof that a run is dead, from its leftovers in the cluster. Without the proof no object is removed: a namespace
 * can carry the labels of the load test because a user copied them, and a run can be alive on another machine. Pure.
 */
import { LABEL, LABEL_VALUE, RUN_LABEL, definitionName } from '../write/kinds.ts';

/** The annotation with the host and the process of a run. */
export const OWNER = 'loadtest.kubeloom.dev/owner';
/** The annotation with the time at which the run was last alive. */
export const ALIVE_AT = 'loadtest.kubeloom.dev/alive-at';
export const HEARTBEAT_MS = 10_000;
/** Much longer than a heartbeat, the delay of a busy machine, and the difference of two machines' clocks together. */
export const DEAD_AFTER_MS = 300_000;

/** A namespace or a definition of a custom resource, with the label of load tests. */
export interface Left {
  readonly what: 'namespace' | 'customresourcedefinition';
  readonly name: string;
  readonly uid?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface LeftOfRuns {
  /** By the identifier of a run that is proved dead. */
  readonly dead: ReadonlyMap<string, readonly Left[]>;
  /** The rest, which may belong to a living run or to no run. */
  readonly others: readonly Left[];
}

const RUN = /^[0-9a-f]{8}$/;

/**
 * Finds the leftovers of dead runs. A run is dead if all its objects carry the label, a name that fits the identifier,
 * an owner and a time, and the newest time is more than five minutes old.
 */
export function leftOfRuns(all: readonly Left[], nowMs: number): LeftOfRuns {
  const byRun = new Map<string, Left[]>();
  for (const each of all) {
    const run = each.labels?.[RUN_LABEL] ?? '';
    const left = byRun.get(run) ?? [];
    left.push(each);
    byRun.set(run, left);
  }
  const dead = new Map<string, readonly Left[]>();
  const others: Left[] = [];
  for (const [run, left] of byRun) {
    const isOwn = RUN.test(run) && left.every((each) => belongsTo(run, each));
    const aliveMs = Math.max(...left.map(({ annotations }) => Date.parse(annotations?.[ALIVE_AT] ?? '')));
    // If the time is missing, the comparison with NaN is false.
    if (isOwn && nowMs - aliveMs > DEAD_AFTER_MS) dead.set(run, left);
    else others.push(...left);
  }
  return { dead, others };
}

function belongsTo(run: string, { what, name, labels, annotations }: Left): boolean {
  const isNamed =
    what === 'namespace' ? name.startsWith(`${LABEL_VALUE}-${run}-`) : name === definitionName(run);
  return isNamed && labels?.[LABEL] === LABEL_VALUE && (annotations?.[OWNER] ?? '') !== '';
}
