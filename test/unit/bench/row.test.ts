/** Rows: their shape, their ratios, and those of clients that failed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BenchCase } from '../../../bench/case.ts';
import { figuresOf } from '../../../bench/figures.ts';
import type { ClientName } from '../../../bench/names.ts';
import { ratioToBest, rowsOf } from '../../../bench/row.ts';
import type { Figure, Run } from '../../../bench/row.ts';
import { tableText } from '../../../bench/table-text.ts';
import type { Outcome, Task } from '../../../bench/task.ts';
import { ratioOf, summarise } from '../../../bench/statistics.ts';

const WATCH: BenchCase = {
  suite: 'watch',
  name: 'pods',
  tier: 'default',
  source: { pods: 10, objectBytes: 5120 },
  task: { case: 'watch', handler: 'key' },
  clients: { kubeloom: 10, limit: 10, 'client-node': 10 },
};
const TASK: Task = { case: 'watch', url: '', resource: 'pods', events: 10, handler: 'key', objects: 10 };
const OUTCOME: Outcome = {
  client: 'kubeloom',
  version: '1',
  events: 1000,
  elapsedMs: 500,
  cpuMs: 10,
  mainThreadCpuMs: 4,
  rssBytes: 1,
  loopDelay: { p99Ms: 2, maxMs: 3, ownP99Ms: 0.5, ownMaxMs: 1 },
  checksum: 1,
};

function run(rate: number, cpu: number): Run {
  const figures: Figure[] = [
    { suffix: '', unit: 'events/s', value: rate },
    { suffix: '', unit: 'cpu-us/event', value: cpu },
  ];
  return { figures, shards: 1, version: '1.0.0' };
}

const failed: Run = {
  figures: [],
  shards: null,
  version: null,
  error: 'Cannot create a string longer than …',
};

function rows(runs: Partial<Record<ClientName, Run[]>>): ReturnType<typeof rowsOf> {
  return rowsOf(WATCH, new Map(Object.entries(runs) as [ClientName, Run[]][]));
}

describe('rows', () => {
  it('have every field of the format, ratios above 1 where kubeloom is better', () => {
    const all = rows({
      kubeloom: [run(300, 2), run(100, 2), run(200, 2)],
      limit: [run(400, 1), run(400, 1), run(400, 1)],
      'client-node': [run(20, 50), run(20, 50), run(20, 50)],
    });
    assert.deepEqual(all[0], {
      suite: 'watch',
      client: 'kubeloom',
      case: 'pods',
      objectBytes: 5120,
      handler: 'key',
      shards: 1,
      value: 200,
      unit: 'events/s',
      min: 100,
      max: 300,
      runs: 3,
      ratios: { limit: 0.5, 'client-node': 10 },
      version: '1.0.0',
      default: true,
    });
    const cpu = all.find(({ client, unit }) => client === 'kubeloom' && unit === 'cpu-us/event');
    assert.deepEqual(cpu?.ratios, { limit: 0.5, 'client-node': 25 });
  });

  it('are judged against the best JavaScript client on the same Node', () => {
    const all = rows({
      kubeloom: [run(300, 2)],
      'client-node': [run(20, 50)],
      'kubeloom-lts': [run(320, 2)],
      'client-node-2': [run(40, 20)],
      'kubernetes-fluent-client': [run(32, 25)],
      'client-go': [run(100, 10)],
    });
    const bests = all.filter(({ unit }) => unit === 'events/s').map(ratioToBest);
    const none = undefined;
    const lts = { peer: 'client-node-2', ratio: 8 };
    assert.deepEqual(bests, [{ peer: 'client-node', ratio: 15 }, none, lts, none, none, none]);
  });

  it('show a client that failed, with its error and without figures', () => {
    const all = rows({ kubeloom: [run(300, 2)], 'client-node': [failed] });
    const peer = all.find(({ client }) => client === 'client-node');
    assert.deepEqual([peer?.value, peer?.runs, peer?.error], [null, 0, failed.error]);
    assert.deepEqual(all[0]?.ratios, {});
    assert.match(tableText(all), /client-node: Cannot create a string/);
  });

  it('give a client that failed the unit of its suite', () => {
    const benchCase: BenchCase = { ...WATCH, suite: 'memory', task: { case: 'memory', handler: 'key' } };
    assert.equal(rowsOf(benchCase, new Map([['client-node', [failed]]]))[0]?.unit, 'bytes');
  });

  it('count only runs that succeeded, and still name the error', () => {
    const [first] = rows({ kubeloom: [run(300, 2), failed, run(100, 2)] });
    assert.deepEqual([first?.value, first?.runs, first?.error], [200, 2, failed.error]);
  });
});

describe('figures of an outcome', () => {
  it('are a rate with the CPU time, the main thread’s part of it and the delay of the event loop beside it', () => {
    const figures = figuresOf(TASK, OUTCOME).map(({ suffix, unit, value }) => [suffix, unit, value]);
    assert.deepEqual(figures, [
      ['', 'events/s', 2000],
      ['rss-max', 'bytes', 1],
      ['', 'cpu-us/event', 10],
      ['main-thread', 'cpu-us/event', 4],
      ['loop-delay-p99', 'ms', 2],
      ['loop-delay-max', 'ms', 3],
      ['loop-delay-own-p99', 'ms', 0.5],
      ['loop-delay-own-max', 'ms', 1],
    ]);
  });

  it('lack the delays of their own where the system does not count waits for a processor', () => {
    const suffixes = figuresOf(TASK, { ...OUTCOME, loopDelay: { p99Ms: 2, maxMs: 3 } }).map(
      ({ suffix }) => suffix,
    );
    assert.deepEqual(suffixes, ['', 'rss-max', '', 'main-thread', 'loop-delay-p99', 'loop-delay-max']);
  });

  it('of a section have the CPU time of a second and of an event, and the highest memory', () => {
    const rows = [{ case: '', unit: 'cpu-ms/s', value: 20 }] as const;
    const { loopDelay: _delay, mainThreadCpuMs: _main, ...section } = OUTCOME;
    assert.deepEqual(figuresOf({ ...TASK, case: 'rest' }, { ...section, rows }), [
      { suffix: '', unit: 'cpu-ms/s', value: 20 },
      { suffix: 'rss-max', unit: 'bytes', value: 1 },
      { suffix: '', unit: 'cpu-us/event', value: 10 },
    ]);
  });

  it('are bytes an object for memory, and milliseconds for latency', () => {
    const memory = figuresOf({ ...TASK, case: 'memory' }, { ...OUTCOME, settledBytes: 100, heapBytes: 50 });
    assert.deepEqual(memory[0], { suffix: 'rss-per-object', unit: 'bytes', value: 10 });
    const latency = { p50Us: 100, p90Us: 200, p99Us: 300, p999Us: 400, maxUs: 1500 };
    const delays = figuresOf({ ...TASK, case: 'latency' }, { ...OUTCOME, latency });
    assert.deepEqual(
      delays.slice(0, 5).map(({ suffix, value }) => [suffix, Number(value.toFixed(6))]),
      [
        ['p50', 0.1],
        ['p90', 0.2],
        ['p99', 0.3],
        ['p99.9', 0.4],
        ['max', 1.5],
      ],
    );
  });
});

describe('a summary of runs', () => {
  it('has the middle run, the least and the most, in any order of the runs', () => {
    assert.deepEqual(summarise([30, 10, 20]), { median: 20, min: 10, max: 30 });
  });

  it('takes the mean of the two in the middle of an even number', () => {
    assert.deepEqual(summarise([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 });
  });

  it('is the run itself when there is one, and nothing when there is none', () => {
    assert.deepEqual(summarise([7]), { median: 7, min: 7, max: 7 });
    assert.equal(summarise([]), undefined);
  });
});

describe('a ratio to a peer', () => {
  it('is above 1 for a higher rate and for a lower time', () => {
    assert.equal(ratioOf([200], [100], true), 2);
    assert.equal(ratioOf([5], [10], false), 2);
    assert.equal(ratioOf([50], [100], true), 0.5);
  });

  it('is the median of the ratios within rounds, since neighbouring runs saw the same machine', () => {
    // The machine got four times slower in the second round, for both.
    assert.equal(ratioOf([400, 100, 400], [100, 25, 80], true), 4);
  });

  it('leaves out rounds in which one of them failed', () => {
    assert.equal(ratioOf([10, undefined, 30], [undefined, 20, 10], true), 3);
    assert.equal(ratioOf([10, undefined], [undefined, 20], true), null);
  });

  it('is null when it would not be a number', () => {
    assert.equal(ratioOf([10], [0], true), null);
    assert.equal(ratioOf([], [], false), null);
  });
});
