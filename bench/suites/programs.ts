/**
 * Programs as users write them, beside the same job in client-node: CPU time of the whole process and its highest memory.
 * `drop-in` is client-node's program on kubeloom/client-node; `controller` reads the cached pod and returns.
 */
import type { BenchCase, Goal } from '../case.ts';
import type { Handler, Program } from '../task.ts';
import { SMALL_BYTES, atMost, each, paced, ratioAtLeast, still } from './common.ts';
import { SOURCE } from './watch.ts';

const HERE = ['kubeloom', 'client-node'] as const;
const BOTH = [...HERE, 'kubeloom-lts', 'client-node-2'] as const;
const PODS = 5000;
const EVENTS = 60_000;
const SETTLE_MS = 6000;
const SECTION_MS = 5000;
/** The rate that is also measured on the current LTS, and in bursts. */
const MIDDLE_RATE = 2000;
/** Number of changes of a pod that starts, within a second. */
const BURST = 6;

type Job = Pick<BenchCase, 'source' | 'task' | 'clients'>;

function program(kind: 'informer' | Program, name: string, job: Job, goals: readonly Goal[] = []): BenchCase {
  const task = kind === 'informer' ? job.task : { ...job.task, program: kind };
  return { suite: 'programs', name: `${kind}, ${name}`, tier: 'default', ...job, task, goals };
}

function cpuRatio(least: number): Goal[] {
  return [ratioAtLeast(least, 'cpu-us/event', 'client-node')];
}

/** controller-runtime's cache requests protobuf. */
function besideGo(job: Job): Job {
  return { ...job, clients: { ...job.clients, 'client-go-protobuf': 0 } };
}

/** The first seconds after the list. The first event shows that the watch is open. */
function atRate(rate: number, handler: Handler, burst: number = 1): Job {
  return {
    source: { ...paced(PODS, rate, 0), burst },
    task: { case: 'rest', handler, warmUpEvents: 1, settleMs: SETTLE_MS, cellMs: SECTION_MS },
    clients: each(rate === MIDDLE_RATE && burst === 1 ? BOTH : HERE, 0),
  };
}

function atFullRate(handler: Handler, source: BenchCase['source'] = SOURCE): Job {
  return { source, task: { case: 'watch', handler }, clients: each(HERE, EVENTS) };
}

function list(pods: number, clients: BenchCase['clients'] = each(HERE, 0)): Job {
  return { source: still(pods), task: { case: 'sync', handler: 'phase' }, clients };
}

const rates = (
  [
    [100, 0.6, undefined, undefined, 0.6],
    [MIDDLE_RATE, 1.3, 1.2, 1.6, 1.5],
    [5000, 1.5, 1.5, 2.2, 1.8],
  ] as const
).flatMap(([rate, dropIn, object, status, controller]) => {
  const name = `${rate.toLocaleString('en-US')} events/s`;
  return [
    program('drop-in', name, atRate(rate, 'phase'), cpuRatio(dropIn)),
    program('informer', name, atRate(rate, 'phase'), object && cpuRatio(object)),
    program('informer', name, atRate(rate, 'status'), status && cpuRatio(status)),
    program('controller', name, besideGo(atRate(rate, 'status')), cpuRatio(controller)),
  ];
});

const bursts = [
  program('drop-in', 'bursts', atRate(MIDDLE_RATE, 'phase', BURST)),
  program('informer', 'bursts', atRate(MIDDLE_RATE, 'phase', BURST)),
  program('controller', 'bursts', atRate(MIDDLE_RATE, 'status', BURST)),
];

const fullRate = [
  program('drop-in', 'full rate', atFullRate('phase'), cpuRatio(1.5)),
  program('informer', 'full rate', atFullRate('phase'), cpuRatio(2.2)),
  program('informer', 'full rate', atFullRate('object'), cpuRatio(2)),
  program('drop-in', 'full rate', atFullRate('phase', { ...SOURCE, objectBytes: SMALL_BYTES }), cpuRatio(1)),
];

const halfOfMemory: Goal = { ...ratioAtLeast(2, 'bytes', 'client-node'), figure: 'rss-max' };
/** client-node cannot list so many pods: the text is too long for V8. */
const LARGE = 110_000;
const largeName = `list of ${LARGE.toLocaleString('en-US')} pods`;

const lists = [
  program('drop-in', 'list of 5,000 pods', list(PODS), [ratioAtLeast(1.5, 'ms', 'client-node')]),
  program('drop-in', 'list of 60,000 pods', list(60_000), [
    ratioAtLeast(4, 'ms', 'client-node'),
    halfOfMemory,
  ]),
  program('drop-in', largeName, list(LARGE, each(['kubeloom'], 0)), [
    ratioAtLeast(0.5, 'ms', { caseName: `informer, ${largeName}` }),
  ]),
  program('informer', largeName, list(LARGE, each(['kubeloom'], 0))),
];

const SCANNED = 20_000;
/** All objects are packed. */
const PACKED_MS = 15_000;

function scanGoal(name: string, mostMs: number): Goal {
  return atMost(mostMs, 'ms', `full scan${name}/objects=${SCANNED}/found=${SCANNED}/warm`);
}

const scan = program(
  'informer',
  `scan of ${SCANNED.toLocaleString('en-US')} packed pods`,
  {
    source: still(SCANNED),
    task: { case: 'readers', handler: 'object', podCounts: [], readers: [], settleMs: PACKED_MS },
    clients: each([...HERE, 'client-go'], 0),
  },
  [scanGoal('', 390), scanGoal(' by status', 150), scanGoal(' by a declared field', 4)],
);

export const PROGRAMS_CASES: readonly BenchCase[] = [...rates, ...bursts, ...fullRate, ...lists, scan];
