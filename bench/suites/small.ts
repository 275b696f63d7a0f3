/**
 * Rows of other suites on a machine of one core and 512 MiB, as most controllers have it: each client runs on core 0
 * (`taskset`), with the heap that Node takes in a container of that memory. The limit of the memory itself would need a
 * control group, which takes privileges: compare `rss` with it.
 */
import type { BenchCase, Goal } from '../case.ts';
import type { Unit } from '../names.ts';
import { MEMORY_CASES } from './memory.ts';
import { REST_CASES } from './rest.ts';
import { START_CASES } from './start.ts';
import { SYNC_CASES } from './sync.ts';
import { WATCH_CASES } from './watch.ts';
import { POD_BYTES, atMost, each, ratioAtLeast, still } from './common.ts';

/** V8 takes half of a container's memory, up to 4 GiB. */
const HEAP_MIB = 256;
/** As many pods of 5 KB as client-node can list into that heap. */
const PODS = 5000;
const EVENTS = { kubeloom: 100_000, 'client-node': 40_000 } as const;

interface Shape extends Partial<Pick<BenchCase, 'source' | 'clients'>> {
  readonly goals: readonly Goal[];
}

function small(cases: readonly BenchCase[], name: string, { goals, ...shape }: Shape): BenchCase[] {
  return cases
    .filter((benchCase) => benchCase.name === name && benchCase.tier === 'default')
    .slice(0, 1)
    .map((benchCase) => ({
      ...benchCase,
      clients: each(['kubeloom', 'client-node'], 0),
      ...shape,
      suite: 'small',
      name: `${benchCase.suite}, ${name}`,
      oneCoreHeapMiB: HEAP_MIB,
      goals,
    }));
}

function atLeast(unit: Unit): Goal {
  return ratioAtLeast(1, unit, 'client-node');
}

/** A goal for the resident memory beside client-node. */
function residentAtLeast(figure: string): Goal {
  return { ...atLeast('bytes'), figure };
}

const RATES = ['100 events/s', '1,000 events/s', '5,000 events/s'];

export const SMALL_CASES: readonly BenchCase[] = [
  ...small(START_CASES, '100 pods, kubeconfig', { goals: [atMost(80_000_000, 'bytes', 'rss')] }),
  ...small(REST_CASES, '10 events/s', { goals: [atMost(8, 'cpu-ms/s')] }),
  ...RATES.flatMap((rate) =>
    small(REST_CASES, rate, { goals: [atLeast('cpu-ms/s'), residentAtLeast('rss')] }),
  ),
  ...small(
    WATCH_CASES.filter(({ task, source }) => task.handler === 'fields' && source.objectBytes === POD_BYTES),
    'pods',
    { clients: EVENTS, goals: [atLeast('events/s'), atLeast('cpu-us/event')] },
  ),
  ...small(SYNC_CASES, '60,000 pods', { source: still(PODS), goals: [atLeast('ms')] }),
  ...small(MEMORY_CASES, '110,000 pods', { source: still(PODS), goals: [residentAtLeast('rss-per-object')] }),
];
