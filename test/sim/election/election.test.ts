/** Lives of three candidates: no two of them act as leaders at the same time, and in the end one of them does. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { live } from './life.ts';
import { MUTANTS } from './mutants.ts';
import type { Lives } from './run.ts';

const SEEDS = 300;
/** Seeds within which a mutant must be found. */
const SEEDS_OF_A_MUTANT = 150;

async function run(...args: readonly string[]): Promise<Lives> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'run.js'),
    ...args,
  ]);
  return JSON.parse(stdout) as Lives;
}

test('a single candidate leads at a time, and one leads in the end, under faults of the network and the processes', async () => {
  const { lives, terms, losses, releases, violations } = await run(String(SEEDS));
  assert.deepEqual(violations, []);
  assert.equal(lives, SEEDS);
  assert.ok(terms > 4 * SEEDS && losses > SEEDS && releases > SEEDS, `${terms} ${losses} ${releases}`);
});

test('a seed gives the same life every time', async () => {
  assert.deepEqual(await live(7), await live(7));
  assert.notDeepEqual(await live(7), await live(8));
});

for (const { title } of MUTANTS) {
  test(`the simulator finds it when ${title}`, async (context) => {
    const { violations } = await run(String(SEEDS_OF_A_MUTANT), title);
    context.diagnostic(violations.join());
    assert.equal(violations.length, 1);
  });
}
