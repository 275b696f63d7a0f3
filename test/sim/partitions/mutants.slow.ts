/** The simulator of groups finds each wrong rule. A file beside the lives, because each file has a limit of time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIVISIONS, divide } from './divide.ts';
import { IDLE_MAX_MS, JOINS, beginAlone, crashLoop } from './join.ts';
import { runLives } from './lives.ts';
import { LATE_IS_LOST, MUTANTS, MUTANTS_OF_A_DIVISION, WITHOUT_YOUTH } from './mutants.ts';

/** Seeds within which a mutant must be found. One seed in 80 shows the rarest, and a change of the rules deals other lives to all seeds. */
const SEEDS_OF_A_MUTANT = 800;

test(`the simulator of late timers finds it when ${LATE_IS_LOST.title}`, async () => {
  let violations: readonly string[] = [];
  for (let seed = 1; seed <= JOINS && violations.length === 0; seed++)
    violations = await beginAlone(seed, LATE_IS_LOST);
  assert.deepEqual(violations, ['the member does not begin']);
});

test(`the simulator of a member that fails again and again finds it when ${WITHOUT_YOUTH.title}`, async () => {
  let worstMs = 0;
  for (let seed = 1; seed <= JOINS && worstMs < IDLE_MAX_MS; seed++)
    worstMs = Math.max(worstMs, (await crashLoop(seed, WITHOUT_YOUTH)).idleMs);
  assert.ok(worstMs >= IDLE_MAX_MS, String(worstMs));
});

for (const mutant of MUTANTS_OF_A_DIVISION) {
  test(`the simulator of divided keys finds it when ${mutant.title}`, async (context) => {
    let violations: readonly string[] = [];
    for (let seed = 1; seed <= DIVISIONS && violations.length === 0; seed++)
      violations = await divide(seed, mutant);
    context.diagnostic(violations.join());
    assert.notDeepEqual(violations, []);
  });
}

for (const { title } of MUTANTS) {
  test(`the simulator of groups finds it when ${title}`, async (context) => {
    const { violations } = await runLives(SEEDS_OF_A_MUTANT, title);
    context.diagnostic(violations.join());
    assert.notDeepEqual(violations, []);
  });
}
