/** Lives of groups: no two members work on a partition at the same time, epochs grow, and in the end each is worked on. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { beginAlone, joinAfterKill } from './join.ts';
import { live } from './life.ts';
import { LATE_IS_LOST, MUTANTS, WITHOUT_OVERDUE } from './mutants.ts';
import type { Lives } from './run.ts';

/** `SEEDS=5000` makes the run longer. */
const SEEDS = Number(process.env['SEEDS'] ?? 60);
/** Seeds within which a mutant must be found. */
const SEEDS_OF_A_MUTANT = 150;

/** Seeds of joins; a few of them show a member that waits for the killed member. */
const JOINS = 25;
/** Two retry periods of the slowest clock, and the requests of a hand-over. The times are simulated. */
const IDLE_MAX_MS = 5500;

async function run(...args: readonly string[]): Promise<Lives> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'run.js'),
    ...args,
  ]);
  return JSON.parse(stdout) as Lives;
}

test('C228 C230 C233 a partition has a single owner at a time, with the greatest epoch, under faults of network and members', async () => {
  const { lives, begun, lost, handedOver, violations } = await run(String(SEEDS));
  assert.deepEqual(violations, []);
  assert.equal(lives, SEEDS);
  assert.ok(begun > 10 * SEEDS && lost > SEEDS && handedOver > SEEDS, `${begun} ${lost} ${handedOver}`);
});

test('C440 a partition that moves to a joining member does not wait for a lease, although the heartbeat of a killed member is still there', async () => {
  for (let seed = 1; seed <= JOINS; seed++) {
    const { violations, idleMs } = await joinAfterKill(seed);
    assert.deepEqual(violations, [], `seed ${seed}`);
    assert.ok(idleMs < IDLE_MAX_MS, `seed ${seed}: ${idleMs} ms`);
  }
});

test('C442 a member alone begins although its timers are late', async () => {
  for (let seed = 1; seed <= JOINS; seed++) assert.deepEqual(await beginAlone(seed), [], `seed ${seed}`);
});

test(`the simulator of late timers finds it when ${LATE_IS_LOST.title}`, async () => {
  let violations: readonly string[] = [];
  for (let seed = 1; seed <= JOINS && violations.length === 0; seed++)
    violations = await beginAlone(seed, LATE_IS_LOST);
  assert.deepEqual(violations, ['the member does not begin']);
});

test(`the simulator of joins finds it when ${WITHOUT_OVERDUE.title}`, async () => {
  let worstMs = 0;
  for (let seed = 1; seed <= JOINS && worstMs < IDLE_MAX_MS; seed++)
    worstMs = Math.max(worstMs, (await joinAfterKill(seed, WITHOUT_OVERDUE)).idleMs);
  assert.ok(worstMs >= IDLE_MAX_MS, String(worstMs));
});

test('a seed gives the same life of a group every time', async () => {
  assert.deepEqual(await live(7), await live(7));
  assert.notDeepEqual(await live(7), await live(8));
});

for (const { title } of MUTANTS) {
  test(`the simulator of groups finds it when ${title}`, async (context) => {
    const { violations } = await run(String(SEEDS_OF_A_MUTANT), title);
    context.diagnostic(violations.join());
    assert.notDeepEqual(violations, []);
  });
}
