/**
 * Simulated clusters, one per seed: objects change while connections break in every way, rings and log are
 * tiny, and shards read irregularly. At the end the replica must equal the server; every change must have
 * come exactly once and in the server's order.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { BLOCK_BYTES } from '../../../src/shared/log/log-layout.ts';
import { FakeApi } from './fake-api.ts';
import { Harness } from './harness.ts';
import { HistoryCheck } from './history-check.ts';

const SEEDS = 60;
const STEPS = 300;

function live(seed: number): { harness: Harness; api: FakeApi } {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const api: FakeApi = new FakeApi({
    streamingLists: seed % 3 !== 0,
    padding: () => (below(40) === 0 ? 900_000 : below(200)),
    chunks: (body) => cut(body, below),
  });
  const history = new HistoryCheck((position) =>
    api.history.find(({ resourceVersion }) => resourceVersion > position),
  );
  const harness: Harness = new Harness({
    random,
    shards: 1 + (seed % 3),
    ringBytes: 1024 << (seed % 4),
    logBytes: (1 + (seed % 2)) * BLOCK_BYTES,
    lastSequence: (2 ** 32 - 50) >>> 0,
    onRequest: (exchange) => api.handle(exchange),
    onRecord: (record) => history.apply(record),
  });
  for (let count = 0; count < 20; count++) api.change('write', `pod-${count}`);
  harness.start({ watchList: seed % 2 === 0 ? 'auto' : 'off', pageSize: seed % 5 === 0 ? 7 : 0 });
  for (let turn = 0; turn < STEPS; turn++) disturbance(harness, api, below);

  // No more faults: time passes until every request is made and every record is read.
  api.faults.length = 0;
  for (let turn = 0; turn < 20; turn++) {
    api.pump();
    harness.drain();
    harness.clock.advance(60_000);
  }
  harness.drain();
  return { harness, api };
}

function disturbance(harness: Harness, api: FakeApi, below: (limit: number) => number): void {
  const choice = below(20);
  if (choice < 8) {
    for (let count = below(6); count >= 0; count--) {
      api.change(below(4) === 0 ? 'delete' : 'write', `pod-${below(30)}`);
    }
    api.pump();
  } else if (choice < 11) harness.read(below(5));
  else if (choice === 11) harness.drain();
  else if (choice === 12) harness.thread.doWork();
  else if (choice === 13) harness.clock.advance(below(40_000));
  else if (choice === 14) api.disturb((exchange) => exchange.end());
  else if (choice === 15) api.disturb((exchange) => api.tear(exchange, below(200)));
  else if (choice === 16) api.disturb((exchange) => exchange.send('{"type":"ADDED","object":{]\n').end());
  else if (choice === 17) api.compact();
  else if (choice === 18) api.bookmark();
  else {
    api.faults.push(
      (
        [
          { kind: 'refuse' },
          { kind: 'answer', status: 500, reason: 'InternalError' },
          { kind: 'answer', status: 429, reason: 'TooManyRequests' },
          { kind: 'answer', status: 410, reason: 'Expired' },
          { kind: 'cut', afterBytes: below(3000) },
        ] as const
      )[below(5)] ?? { kind: 'refuse' },
    );
    api.disturb((exchange) => exchange.end());
  }
}

/** Cuts a body into up to twelve pieces, at any byte. */
function cut(body: Buffer, below: (limit: number) => number): Buffer[] {
  const ends = Array.from({ length: below(12) }, () => below(body.length + 1)).sort((a, b) => a - b);
  let start = 0;
  return [...ends, body.length].map((end) => {
    const chunk = body.subarray(start, end);
    start = end;
    return chunk;
  });
}

describe('convergence', () => {
  const totals = { pauses: 0, requests: 0, errors: new Set<string>() };
  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`seed ${seed} ends with the server's state, after exactly its history`, () => {
      const { harness, api } = live(seed);
      assert.deepEqual(harness.replica.objects(), api.objects());
      assert.equal(harness.thread.hasBacklog, false);
      totals.requests += harness.exchanges.length;
      totals.pauses += harness.exchanges.reduce((sum, { pauses }) => sum + pauses, 0);
      for (const code of harness.errors()) totals.errors.add(code);
      assert.ok(harness.exchanges.every(({ isPaused, isOpen }) => !isOpen || !isPaused));
    });
  }

  it('covers every kind of fault', () => {
    assert.ok(totals.pauses > 100 && totals.requests > 500, JSON.stringify({ ...totals, errors: undefined }));
    for (const code of [
      'ERR_KUBELOOM_GONE',
      'ERR_KUBELOOM_UNREACHABLE',
      'ERR_KUBELOOM_CONNECTION_RESET',
      'ERR_KUBELOOM_MALFORMED_EVENT',
      'ERR_KUBELOOM_TOO_MANY_REQUESTS',
      'ERR_KUBELOOM_INTERNAL',
    ]) {
      assert.ok(totals.errors.has(code), `${code} is missing in ${[...totals.errors].join(' ')}`);
    }
  });
});
