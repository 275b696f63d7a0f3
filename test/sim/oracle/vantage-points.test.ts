/** Records other than notifications: caches, wire, shards, queues, errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyHash } from './body-hash.ts';
import type { Histories, SnapshotRecord, WireRecord } from './histories.ts';
import { fromJsonLines, toJsonLines } from './json-lines.ts';
import { judge } from './judge.ts';
import type { JudgeOptions } from './judge.ts';
import { INFORMER, commit, objects, delivered, smallRun } from './small-run.ts';

function spoiled(spoil: (run: Histories) => unknown): Histories {
  const run = smallRun();
  spoil(run);
  return run;
}

function assertFinds(invariant: string, run: Histories, options?: JudgeOptions): void {
  const found = judge(run, options).map((violation) => violation.invariant);
  assert.ok(found.includes(invariant), `${invariant} is among ${found.join(', ')}`);
}

/** Asserts that the oracle finds what is spoiled in the records. */
function finds(invariant: string, spoil: (run: Histories) => unknown): void {
  assertFinds(invariant, spoiled(spoil));
}

function snapshot(to: Partial<SnapshotRecord>): Histories {
  return spoiled(({ snapshots }) => snapshots.push({ informer: INFORMER, revision: 12, objects: [], ...to }));
}

function asked(query: Record<string, string>, method = 'GET', isWatch = false): WireRecord {
  return { what: 'request', connection: 9, informer: INFORMER, method, isWatch, query };
}

test('I1: the oracle finds a missing, surplus or old object in the last cache', () => {
  assertFinds('I1', snapshot({ objects: objects('a@11', 'c@12'), isFinal: true }));
  assertFinds('I1', snapshot({ objects: objects('a@11', 'b@2', 'c@12', 'e@10'), isFinal: true }));
  assertFinds('I1', snapshot({ objects: objects('a@4', 'c@12', 'e@10'), isFinal: true }));
});

test('I1c: the oracle finds a former body of a version in the last cache and in the last notifications', () => {
  const rewritten = { ...commit('ADDED a 11'), type: 'REWRITTEN', hash: 'restored' } as const;
  const run = spoiled(({ commits }) => commits.push(rewritten));
  const found = judge(run).map(({ invariant }) => invariant);
  assert.deepEqual(found, ['I1c', 'I1c', 'I1c'], 'the cache and two handlers have what it was before');
  const [a] = objects('a@11');
  const body = { hash: 'restored', objectHash: 'restored' };
  assert.ok(a);
  const whole = spoiled((histories) => {
    histories.commits.push(rewritten);
    const cached = [{ ...a, hash: 'restored' }, ...objects('c@12', 'e@10')];
    histories.snapshots.push({ informer: INFORMER, revision: 12, objects: cached, isFinal: true });
    for (const handler of ['first', 'late']) {
      histories.delivered.push(Object.assign(delivered(handler, 'update a 11 11'), body));
    }
  });
  assert.deepEqual(judge(whole), []);
});

test('I3: the oracle finds another body or uid in the cache', () => {
  const [first] = objects('a@11');
  assert.ok(first);
  const rest = objects('c@12', 'e@10');
  assertFinds('I3', snapshot({ objects: [{ ...first, hash: 'other' }, ...rest] }));
  assertFinds('I10', snapshot({ objects: [{ ...first, uid: 'other' }, ...rest] }));
});

test('I9: the oracle finds a key that is listed twice, and an index that is not exact', () => {
  const all = objects('a@11', 'c@12', 'e@10');
  assertFinds('I9', snapshot({ objects: [...all, ...objects('a@11')] }));
  const app = { a: ['a'], c: ['c'], e: ['e'] };
  assertFinds('I9', snapshot({ objects: all, indices: { app: { ...app, c: [] } } }));
  assertFinds('I9', snapshot({ objects: all, indices: { app: { ...app, x: ['c'] } } }));
  assert.deepEqual(judge(snapshot({ objects: all, indices: { app } })), []);
});

test('I9b: the oracle finds a cache that is not the state of the server at its version', () => {
  assertFinds('I9b', snapshot({ revision: 5, objects: objects('a@4', 'b@2', 'c@3') }));
  assertFinds('I9b', snapshot({ revision: 4, objects: objects('a@4', 'b@2', 'c@3', 'd@5') }));
  assert.deepEqual(judge(snapshot({ revision: 7, objects: objects('a@4', 'c@3') })), []);
});

test('the oracle expects an addition of an object that begins to match a selector, and a deletion of one that ceases to', () => {
  const run = spoiled(({ scopes, commits, snapshots }) => {
    scopes[INFORMER] = { labels: { app: 'a' } };
    scopes['all'] = {};
    commits.push({ ...commit('MODIFIED a 13'), labels: {} });
    snapshots.length = 0;
    snapshots.push({ informer: INFORMER, revision: 12, objects: objects('a@11') });
    snapshots.push({ informer: INFORMER, revision: 13, objects: [], isFinal: true });
  });
  assert.deepEqual(judge({ ...run, delivered: [] }), []);
});

test('I13: the oracle finds a watch that resumes from a version that was not received whole', () => {
  finds('I13', ({ wire }) => wire.splice(8, 0, asked({ resourceVersion: '7' }, 'GET', true)));
  const cut = spoiled(({ wire }) => wire.splice(3, 99, asked({ resourceVersion: '1' }, 'GET', true)));
  assertFinds('I13', { ...cut, delivered: [] });
});

test('I14: the oracle finds a bookmark that is older than the last event', () => {
  const sent = (connection: number, revision: number): WireRecord => {
    return { what: 'sent', connection, type: 'BOOKMARK', revision };
  };
  finds('I14', ({ wire }) => wire.push(sent(5, 11)));
  assert.deepEqual(judge(spoiled(({ wire }) => wire.push(sent(5, 12), sent(5, 20)))), []);
  const found = judge(spoiled(({ wire }) => wire.push({ ...sent(5, 1), fault: 'old' } as WireRecord)));
  assert.deepEqual(found, []);
});

test('I15: the oracle finds a request that an informer may not make', () => {
  finds('I15', ({ wire }) => wire.push(asked({}, 'DELETE')));
  finds('I15', ({ wire }) => wire.push(asked({ resourceVersion: '0' })));
  finds('I15', ({ wire }) => wire.push(asked({ resourceVersion: '12', limit: '500' })));
  finds('I15', ({ wire }) => wire.push(asked({ resourceVersion: '12', continue: 'x' })));
  assert.deepEqual(judge(spoiled(({ wire }) => wire.push(asked({ resourceVersion: '', limit: '500' })))), []);
});

test('I16: the oracle finds too many requests in a time', () => {
  assertFinds('I16', smallRun(), { requestsMax: { count: 2, windowMs: 250 } });
  assert.deepEqual(judge(smallRun(), { requestsMax: { count: 3, windowMs: 250 } }), []);
});

test('I17: the oracle finds a queue that holds more than its bound', () => {
  finds('I17', ({ gauges }) => gauges.push({ name: 'ring', value: 9, bound: 8 }));
});

test('I18: the oracle finds a fault without a report, and a report without a fault', () => {
  finds('I18', ({ reports }) => reports.splice(0));
  const idle = spoiled(({ reports, faults }) => {
    reports.splice(0);
    faults.splice(0, 1, { id: '1', kind: 'expired', codes: ['EXPIRED'] });
  });
  assert.deepEqual(judge(idle), []);
  assertFinds('I18', smallRun(), { codes: ['OTHER'] });
  assert.deepEqual(judge(smallRun(), { codes: ['EXPIRED'] }), []);
});

test('I5b: the oracle finds a sequence that a shard repeats or leaves out, over the wrap of u32', () => {
  finds('I5b', ({ applied }) => applied.push({ shard: 0, sequence: 1, incarnation: 1, kind: 'Change' }));
  finds('I5b', ({ applied }) => applied.splice(3, 1));
});

test('I5b: a dead thread may leave out sequences behind the last merged one, and new threads may not', () => {
  const died = (merged: number): Histories =>
    spoiled(({ applied, restarts }) => {
      applied.push({ shard: 0, sequence: 9, incarnation: 1, kind: 'Modified' });
      restarts.push({ incarnation: 2, merged, wire: 0 });
    });
  assert.ok(!judge(died(2)).some(({ invariant }) => invariant === 'I5b'));
  assertFinds('I5b', died(9));
});

test('a run that was written to a file and read again has the same violations', () => {
  const run = fromJsonLines(toJsonLines(smallRun()));
  assert.deepEqual(run, smallRun());
  assert.deepEqual(judge(run), []);
});

test('bodies are compared exactly, in any order and spelling', () => {
  const same = (one: string, other: string): boolean => bodyHash(one) === bodyHash(other);
  assert.ok(same('{"a":1,"b":[1,{"c":"é"}]}', ' { "b" : [ 1 , {"c":"\\u00e9"} ] , "a":1 } '));
  assert.ok(same('{"kind":"Pod","apiVersion":"v1","a":{}}', '{"a":{}}'), 'what a list leaves out');
  assert.ok(!same('{"a":{"kind":"Pod"}}', '{"a":{}}'));
  assert.ok(!same('{"a":9007199254740993}', '{"a":9007199254740992}'));
  assert.ok(!same('{"a":1.0}', '{"a":1}'));
  assert.ok(!same('{"__proto__":1}', '{}'));
  assert.ok(!same('{"a":1,"a":2}', '{"a":2}'));
  assert.ok(!same('[1,2]', '[2,1]'));
  assert.ok(!same('{"a":1', '{"a":2'), 'also text that is not JSON');
});
