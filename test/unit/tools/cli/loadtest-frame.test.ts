/** The frame of a running load test: what it says, and that it fits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frame } from '../../../../src/tools/cli/loadtest/loadtest-frame.ts';
import { plainText } from '../../../../src/tools/cli/loadtest/loadtest-view.ts';
import type { LiveState } from '../../../../src/tools/loadtest/live.ts';

function stateAt(seconds: number, answeredPerSecond: number, failed = 0): LiveState {
  const answered = seconds * answeredPerSecond;
  return {
    atMs: seconds * 1000,
    phase: { name: 'steady', type: 'steady', index: 2, count: 4, startMs: 0, durationMs: 40_000 },
    writes: { due: seconds * 500, sent: answered, answered, failed, total: null },
    latencies: { dueToSent: { p50: 0.4, p99: 1.5, max: 3 }, sentToAnswered: null },
    watchers: { count: 5, synced: 4, delivered: answered * 4, relists: 1, cutWatches: 2 },
    processes: [
      { name: 'generator', cpu: 0.25, rssBytes: 90 * 2 ** 20, loopDelayMs: 1.2 },
      { name: 'watchers 1', cpu: 0.5, rssBytes: 140 * 2 ** 20, loopDelayMs: 3 },
    ],
  };
}

const steady = [stateAt(5, 500), stateAt(10, 500)];

describe('the frame of a load test', () => {
  it('says where the run is, its rates, latencies, watchers and processes', () => {
    assert.deepEqual(frame({ title: 'kubeloom loadtest w · kind', states: steady }, 100, 20), [
      'kubeloom loadtest w · kind',
      `${'█'.repeat(7)}${'░'.repeat(23)} 25 %  phase 3 of 4: steady, 30 s left`,
      '',
      'writes      5,000 confirmed   500/s of 500/s asked   0 waiting   0 failed',
      'due→sent    p50   400 µs   p99   1.5 ms   max     3 ms',
      '→answered   –',
      'watchers    4 of 5 synced   20,000 delivered, 2,000/s   1 relists   2 watches cut',
      'watchers 1  0.50 CPU    140 MiB   loop delayed by 3 ms',
      'generator   0.25 CPU     90 MiB   loop delayed by 1.2 ms',
      'so far      no write failed; delivery is judged at the end',
    ]);
  });

  it('says that the run is INVALID after a failed write, and that a rate is too low', () => {
    const last = (states: LiveState[]): string | undefined => frame({ title: '', states }, 100, 20).at(-1);
    assert.equal(last([stateAt(5, 500), stateAt(10, 500, 3)]), 'so far      INVALID: 3 writes failed');
    assert.match(last([stateAt(5, 400), stateAt(10, 400)]) ?? '', /the rate of the last 5 s is below 95 %/);
  });

  it('shows how much of a phase without a time is done', () => {
    const [state] = steady;
    assert.ok(state);
    const create = {
      ...state,
      phase: { ...state.phase, durationMs: null },
      writes: { ...state.writes, total: 5000 },
    };
    assert.match(
      frame({ title: '', states: [create] }, 100, 20)[1] ?? '',
      /^█{15}░{15} 50 % {2}phase 3 of 4: steady, 5 s$/,
    );
    const sync = { ...create, writes: { ...state.writes, total: null } };
    assert.equal(frame({ title: '', states: [sync] }, 100, 20)[1], 'phase 3 of 4: steady, 5 s');
  });

  it('fits every terminal', () => {
    for (let rows = 1; rows < 15; rows++) {
      for (let columns = 1; columns < 90; columns++) {
        const lines = frame({ title: 'kubeloom loadtest', states: steady }, columns, rows);
        assert.ok(lines.length <= rows);
        assert.ok(lines.every((line) => line.length <= columns));
      }
    }
  });

  it('cuts lines by the columns that their characters take', () => {
    const title = '負荷試験'.repeat(5);
    assert.equal(frame({ title, states: steady }, 10, 3)[0], '負荷試験…');
  });

  it('escapes control characters of names', () => {
    const [state] = steady;
    assert.ok(state);
    const phase = { ...state.phase, name: 'a\u001b[2J' };
    const text = frame({ title: 'b\u0007', states: [{ ...state, phase }] }, 100, 20).join('\n');
    assert.ok(text.includes(String.raw`a\x1b[2J`) && text.includes(String.raw`b\x07`));
  });
});

it('a load test without a terminal prints a line a second', () => {
  assert.equal(plainText(stateAt(3, 500)), 'steady: 1,500 confirmed, 6,000 delivered to 4 of 5 watchers');
});
