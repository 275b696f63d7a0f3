/** The section of docs/reliability.md, from hand-written results. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Judgement } from '../../../../bench/differential/judge.ts';
import { describeMachine } from '../../../../bench/document.ts';
import type { CaseRun } from '../../../../bench/differential/run-case.ts';
import { differentialSection } from '../../../../bench/differential/section.ts';

const NONE = { missing: 0, ghosts: 0, stale: 0 };
const QUIET = { repeated: 0, reordered: 0, illogical: 0, uidChanges: 0 };

function run(
  client: string,
  seed: number,
  more: Omit<Partial<CaseRun>, 'judgement'> & { judgement?: Partial<Judgement> },
): CaseRun {
  const { judgement, ...rest } = more;
  const whole = { store: NONE, handler: NONE, notifications: QUIET, skipped: 0, recoveryMs: 0, errors: 0 };
  return {
    case: 'restart',
    client,
    seed,
    ...rest,
    judgement: { ...whole, firstError: undefined, ...judgement },
  };
}

function rowOf(...runs: CaseRun[]): string {
  const section = differentialSection({
    machine: describeMachine(),
    versions: { one: 'v1', other: 'v2' },
    seeds: [1, 2],
    loadRate: 150,
    recoveryMsMax: 30_000,
    startedAt: '',
    elapsedMs: 0,
    runs,
  });
  return section.split('\n').find((line) => line.startsWith('| the server restarts')) ?? '';
}

describe('the section of the differential table', () => {
  it('shows the median and the range of recoveries', () => {
    const row = rowOf(
      run('one', 1, { judgement: { recoveryMs: 120 } }),
      run('one', 2, { judgement: { recoveryMs: 2_340 } }),
    );
    assert.equal(row, '| the server restarts in half a second | 0.12 s (0.12 to 2.3) | not measured |');
  });

  it('shows the worst loss, and the number of runs without one', () => {
    const row = rowOf(
      run('one', 1, { judgement: { recoveryMs: 100 } }),
      run('one', 2, { isStopped: true, judgement: { store: { missing: 2, ghosts: 1, stale: 0 } } }),
      run('other', 1, { judgement: { handler: { ...NONE, stale: 4 }, recoveryMs: undefined } }),
    );
    assert.equal(
      row,
      '| the server restarts in half a second | 1 of 2 in 0.10 s; **stopped: 2 missing, 1 ghost** | **differs: 4 stale** |',
    );
  });

  it('does not count an invalid run', () => {
    const row = rowOf(run('one', 1, { invalid: 'the fault did not land' }));
    assert.equal(row, '| the server restarts in half a second | INVALID | not measured |');
  });
});
