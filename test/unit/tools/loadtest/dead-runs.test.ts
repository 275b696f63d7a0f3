/** The proof that a run has died, without which nothing of it is removed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALIVE_AT, DEAD_AFTER_MS, OWNER, leftOfRuns } from '../../../../src/tools/loadtest/run/dead-runs.ts';
import type { Left } from '../../../../src/tools/loadtest/run/dead-runs.ts';
import { LABEL, LABEL_VALUE, RUN_LABEL } from '../../../../src/tools/loadtest/write/kinds.ts';

const NOW_MS = 1_000_000_000_000;
const RUN = '0a1b2c3d';
const at = (ageMs: number): string => new Date(NOW_MS - ageMs).toISOString();

const DEAD: Left & Required<Pick<Left, 'labels' | 'annotations'>> = {
  what: 'namespace',
  name: `kubeloom-loadtest-${RUN}-1`,
  labels: { [LABEL]: LABEL_VALUE, [RUN_LABEL]: RUN },
  annotations: { [OWNER]: 'machine 12', [ALIVE_AT]: at(DEAD_AFTER_MS + 1) },
};

const UNPROVED: readonly (readonly [why: string, left: Left])[] = [
  ['its time is not old', { ...DEAD, annotations: { ...DEAD.annotations, [ALIVE_AT]: at(DEAD_AFTER_MS) } }],
  ['its time is in the future', { ...DEAD, annotations: { ...DEAD.annotations, [ALIVE_AT]: at(-1) } }],
  ['it has no time', { ...DEAD, annotations: { [OWNER]: 'machine 12' } }],
  ['its time is no time', { ...DEAD, annotations: { ...DEAD.annotations, [ALIVE_AT]: 'yesterday' } }],
  ['it has no owner', { ...DEAD, annotations: { [ALIVE_AT]: at(DEAD_AFTER_MS + 1) } }],
  ['it has no annotations', { ...DEAD, annotations: undefined }],
  ['it has no run', { ...DEAD, labels: { [LABEL]: LABEL_VALUE } }],
  ['its run is no identifier', { ...DEAD, labels: { ...DEAD.labels, [RUN_LABEL]: 'mine' } }],
  ["another tool's label", { ...DEAD, labels: { ...DEAD.labels, [LABEL]: 'helm' } }],
  ["its name is not a run's", { ...DEAD, name: 'production' }],
  ["its name is another run's", { ...DEAD, name: 'kubeloom-loadtest-ffffffff-1' }],
  ['its name is of another kind', { ...DEAD, what: 'customresourcedefinition' }],
];

describe('what a run left', () => {
  it('is removed when everything of the run proves that it is dead', () => {
    const definition: Left = {
      ...DEAD,
      what: 'customresourcedefinition',
      name: `widgets.r${RUN}.loadtest.kubeloom.dev`,
    };
    const { dead, others } = leftOfRuns([DEAD, definition], NOW_MS);
    assert.deepEqual([...dead], [[RUN, [DEAD, definition]]]);
    assert.deepEqual(others, []);
  });

  for (const [why, left] of UNPROVED) {
    it(`stays when ${why}`, () => {
      assert.deepEqual(leftOfRuns([left], NOW_MS), { dead: new Map(), others: [left] });
    });
  }

  it('stays when another part of the same run is alive', () => {
    const alive = { ...DEAD, name: `${DEAD.name}2`, annotations: { ...DEAD.annotations, [ALIVE_AT]: at(0) } };
    assert.deepEqual(leftOfRuns([DEAD, alive], NOW_MS).others, [DEAD, alive]);
  });
});
