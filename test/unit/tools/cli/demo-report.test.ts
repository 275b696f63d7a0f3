/** The conclusion of the demo: when the verdict is PASS, FAIL or INVALID. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PASSED, conclude, reportText } from '../../../../src/tools/cli/demo/demo-report.ts';
import type { DemoReport, HandlerResult } from '../../../../src/tools/cli/demo/demo-report.ts';
import { EXIT_CODES, conclusionText } from '../../../../src/tools/cli/terminal/report.ts';
import { differences, sampleKeys } from '../../../../src/tools/loadtest/verdict/store-comparison.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import type { Verdict } from '../../../../src/tools/loadtest/verdict/verdict.ts';

type StoredObject = Pick<CachedObject<unknown>, 'key' | 'resourceVersion' | 'bytes'>;

const REPORT: DemoReport = {
  pods: 10,
  eventsSent: 1000,
  eventsDelivered: 1000,
  lost: 0,
  duplicated: 0,
  reordered: 0,
  storeEqualsServer: true,
  eventsPerSecond: 1000,
  syncMs: 12,
  eventLoopDelayMs: { p99: 1.2, max: 3.4 },
  rssBytes: 123_000_000,
  threads: [
    { role: 'reflector', deltas: 1010, cpuMs: 5 },
    { role: 'shard 0', deltas: 500, cpuMs: 5 },
    { role: 'shard 1', deltas: 510, cpuMs: null },
    { role: 'main', deltas: 1010, cpuMs: 5 },
  ],
};
const CLEAN: Verdict = {
  delivered: 1000,
  initial: 10,
  covered: 0,
  lost: 0,
  duplicated: 0,
  reordered: 0,
  findings: [],
  seen: { from: 0, until: Number.POSITIVE_INFINITY },
};

function handlers(slow: Partial<Verdict> = {}): HandlerResult[] {
  return [
    { name: 'prompt', verdict: CLEAN, behindMax: 1 },
    { name: 'slow', verdict: { ...CLEAN, ...slow }, behindMax: 99 },
  ];
}

function exitCode(report: Partial<DemoReport>, slow: Partial<Verdict> = {}): number {
  return EXIT_CODES[conclude({ ...REPORT, ...report }, handlers(slow)).kind];
}

describe('the demo', () => {
  it('passes when everything arrived once and in order', () => {
    assert.equal(exitCode({}), 0);
  });

  it('fails for every single fault of either handler', () => {
    for (const fault of ['lost', 'duplicated', 'reordered'] as const) {
      assert.equal(exitCode({}, { [fault]: 1 }), 1, fault);
    }
    assert.equal(exitCode({}, { delivered: 0 }), 1);
  });

  it('fails when the cache differs, a shard did nothing, or no shard has figures', () => {
    assert.equal(exitCode({ storeEqualsServer: false }), 1);
    assert.equal(exitCode({ threads: REPORT.threads.map((each) => ({ ...each, deltas: 0 })) }), 1);
    const idle = REPORT.threads.map((each) => (each.role === 'shard 1' ? { ...each, deltas: 0 } : each));
    assert.equal(exitCode({ threads: idle }), 1);
    assert.equal(exitCode({ threads: [] }), 1);
  });

  it('names the handler, the fault and its place', () => {
    const results = handlers({ lost: 2, findings: ['lost: DELETED a/x@7'] });
    const text = reportText(REPORT, results);
    assert.match(
      conclusionText(conclude(REPORT, results), PASSED),
      /FAIL:\n {2}the slow handler: 2 lost, 0 duplicated, 0 reordered \(lost: DELETED a\/x@7\)/,
    );
    assert.match(text, /shard 1 +510 +unknown/);
    assert.match(text, /slow +10 +1,000 +2 +0 +0 +99/);
  });
});

describe('the comparison of store and server', () => {
  const entry = (key: string, resourceVersion: string, json = `{"a":"${key}"}`): StoredObject => ({
    key,
    resourceVersion,
    bytes: () => Buffer.from(json),
  });
  const state = new Map([
    ['a/x', '5'],
    ['b/y', '7'],
  ]);
  const bytes = new Map([['a/x', Buffer.from('{"a":"a/x"}\n')]]);
  const x = entry('a/x', '5');
  const y = entry('b/y', '7');

  it('finds nothing when they are equal', () => {
    assert.deepEqual(differences([x, y], { state, bytes }), []);
  });

  it('finds missing, superfluous, old and repeated objects', () => {
    const of = (...entries: StoredObject[]): string[] => differences(entries, { state, bytes });
    assert.deepEqual(of(y), ['a/x@5 is on the server only']);
    assert.deepEqual(of(x, y, entry('c/z', '9')), ['c/z@9 is in the store only']);
    assert.deepEqual(of(entry('a/x', '4'), y), ['a/x is at 4 in the store, at 5 on the server']);
    assert.deepEqual(of(x, y, y), ['b/y@7 is twice in the store only']);
  });

  it('finds one wrong byte in a sampled object', () => {
    const wrong = entry('a/x', '5', '{"a":"a/X"}');
    assert.deepEqual(differences([wrong, y], { state, bytes }), ["the bytes of a/x@5 are not the server's"]);
  });

  it('samples keys from the whole store', () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `a/${index}`);
    const sample = [...sampleKeys(keys)];
    assert.equal(sample.length, 100);
    assert.equal(sample.at(-1), 'a/990');
    assert.deepEqual([...sampleKeys(['a/x'])], ['a/x']);
  });
});
