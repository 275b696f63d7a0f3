/** The simulator itself: it replays seeds, its faults happen, and a few runs have no violations. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { lostOf } from '../contract/fault.ts';
import { hashOf, live } from './life.ts';
import { MUTANTS } from './mutants/mutants.ts';
import { Tally } from './tally.ts';
import { FAULTS } from './fault-schedule.ts';

const SEEDS = 12;

test('a seed gives the same run every time and in every process', async () => {
  const life = await live(3);
  assert.equal(hashOf(await live(3)), hashOf(life));
  assert.notEqual(hashOf(await live(4)), hashOf(life));
  const run = join(import.meta.dirname, 'run.js');
  const output = execFileSync(process.execPath, [run, '--seed', '3'], { encoding: 'utf8' });
  assert.ok(output.includes(`history ${hashOf(life)}`), output);
});

test('simulated runs have writes, notifications and faults, and no violations', async () => {
  const tally = new Tally();
  let applied = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const life = await live(seed);
    tally.add(life);
    assert.deepEqual(life.violations, [], `seed ${seed}`);
    applied += life.histories.applied.length;
    assert.ok(life.histories.snapshots.length > 0);
  }
  assert.ok(tally.isMeaningful);
  assert.ok(applied > 50 * SEEDS);
  const seen = tally.table().split('\n').slice(1);
  assert.equal(seen.length, FAULTS.length);
  assert.ok(seen.filter((line) => !line.trimStart().startsWith('0 ')).length > FAULTS.length / 2);
});

test('the fault of every mutant of the oracle occurs once in the compiled code', () => {
  assert.deepEqual(lostOf(MUTANTS, join(import.meta.dirname, '../..')), []);
});
