/** Lives of groups: no two members work on a partition at the same time, epochs grow, and in the end each is worked on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIVISIONS, divide } from './divide.ts';
import {
  FILL_MS,
  JOINS,
  MOVE_MAX_MS,
  IDLE_MAX_MS,
  beginAlone,
  crashLoop,
  joinAfterKill,
  joinSlowly,
  joinUnseen,
  restartAfterSuspension,
} from './join.ts';
import { live } from './life.ts';
import { runLives } from './lives.ts';

/** `SEEDS=5000` makes the run longer. */
const SEEDS = Number(process.env['SEEDS'] ?? 40);

test('C228 C230 C233 C460 a partition has a single owner at a time, with the greatest epoch, under faults of network and members', async () => {
  const { lives, begun, lost, handedOver, violations } = await runLives(SEEDS);
  assert.deepEqual(violations, []);
  assert.equal(lives, SEEDS);
  assert.ok(begun > 10 * SEEDS && lost > SEEDS && handedOver > SEEDS, `${begun} ${lost} ${handedOver}`);
});

test('C460 a partition that moves to a joining member does not wait for a lease, although the heartbeat of a killed member is still there', async () => {
  for (let seed = 1; seed <= JOINS; seed++) {
    const { violations, idleMs } = await joinAfterKill(seed);
    assert.deepEqual(violations, [], `seed ${seed}`);
    assert.ok(idleMs < MOVE_MAX_MS, `seed ${seed}: ${idleMs} ms`);
  }
});

test('C460 C233 every partition is served when another member restarts after a machine was suspended', async () => {
  for (let seed = 1; seed <= JOINS; seed++)
    assert.deepEqual(await restartAfterSuspension(seed), [], `seed ${seed}`);
});

test('C447 a member that joins has a partition although another member does not see it', async () => {
  for (let seed = 1; seed <= 5; seed++) assert.deepEqual(await joinUnseen(seed), [], `seed ${seed}`);
});

test('C461 a member that is killed again and again soon after its start keeps no partition from the others', async () => {
  for (let seed = 1; seed <= JOINS; seed++) {
    const { violations, idleMs } = await crashLoop(seed);
    assert.deepEqual(violations, [], `seed ${seed}`);
    assert.ok(idleMs < IDLE_MAX_MS, `seed ${seed}: ${idleMs} ms`);
  }
});

test('C442 a member alone begins although its timers are late', async () => {
  for (let seed = 1; seed <= JOINS; seed++) assert.deepEqual(await beginAlone(seed), [], `seed ${seed}`);
});

test('C447 a single partition waits for the first list of a joining member', async () => {
  for (let seed = 1; seed <= JOINS; seed++) {
    const { violations, idleMs } = await joinSlowly(seed);
    assert.deepEqual(violations, [], `seed ${seed}`);
    const [longest = 0, ...others] = idleMs.toReversed();
    assert.ok(longest >= FILL_MS * 0.8, `seed ${seed}: ${longest} ms`);
    assert.ok(Math.max(...others) < MOVE_MAX_MS, `seed ${seed}: ${others.join()} ms`);
  }
});

test('C228 C233 the server sends each change once, to the member that owns the key, and a work has it within 60 s, whatever struck a member before', async () => {
  for (let seed = 1; seed <= DIVISIONS; seed++) assert.deepEqual(await divide(seed), [], `seed ${seed}`);
});

test('a seed gives the same life of a group every time', async () => {
  assert.deepEqual(await live(7), await live(7));
  assert.notDeepEqual(await live(7), await live(8));
});
