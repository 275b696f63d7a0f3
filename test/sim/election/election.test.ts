/** Lives of three candidates: no two of them act as leaders at the same time, and in the end one of them does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { live } from './life.ts';
import { MUTANTS } from './mutants.ts';

const SEEDS = 200;
/** Seeds within which a mutant must be found. */
const SEEDS_OF_A_MUTANT = 100;

test('one candidate leads at a time, and one leads in the end, whatever the network and the processes do', async () => {
  let [terms, losses, releases] = [0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const life = await live(seed);
    assert.deepEqual(life.violations, [], `seed ${seed}`);
    terms += life.terms;
    losses += life.losses;
    releases += life.releases;
  }
  assert.ok(terms > 4 * SEEDS && losses > SEEDS && releases > SEEDS, `${terms} ${losses} ${releases}`);
});

test('a seed gives the same life every time', async () => {
  assert.deepEqual(await live(7), await live(7));
  assert.notDeepEqual(await live(7), await live(8));
});

for (const mutant of MUTANTS) {
  test(`the simulator finds it when ${mutant.title}`, async (context) => {
    for (let seed = 1; seed <= SEEDS_OF_A_MUTANT; seed++) {
      const { violations } = await live(seed, mutant);
      if (violations.length === 0) continue;
      context.diagnostic(`seed ${seed}: ${violations[0]}`);
      return;
    }
    assert.fail(`no violation in ${SEEDS_OF_A_MUTANT} seeds`);
  });
}
