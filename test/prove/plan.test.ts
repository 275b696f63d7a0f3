/** Tests of the plan of proofs: everything that `npm run prove` runs has a turn in CI, and every suite exists. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../package/installation.ts';
import { SUITES } from '../suites.ts';
import { failuresIn } from './failures.ts';
import { SLOW_MACHINE_STEPS, TURNS, allSteps, stepsOfCi, turnOf } from './plan.ts';

const commits = Array.from({ length: 256 }, (_, n) =>
  (n * 7919).toString(16).padStart(8, '0').padEnd(40, 'f'),
);
const SUITE = /npm run --silent suite -- ([\w-]+)/;

/** Returns the suite of a command, or the command. */
const subjectOf = (command: string): string => SUITE.exec(command)?.[1] ?? command;

test('each turn comes to some commit, and a commit that is tested again has the same turn', () => {
  assert.deepEqual(new Set(commits.map(turnOf)), new Set(Object.keys(TURNS)));
  for (const commit of commits) assert.equal(turnOf(commit), turnOf(`${commit.slice(0, 8)}0`));
});

test('CI runs each subject of the whole proof, in every run or by turn', () => {
  const inCi = new Set(
    Object.keys(TURNS).flatMap((turn) =>
      stepsOfCi(turn, 'f'.repeat(40)).map(({ command }) => subjectOf(command)),
    ),
  );
  // The turns of other runtimes play the examples with the installed package; the quick tests run the cases with a seed.
  inCi.add('examples').add('sim-faults');
  assert.deepEqual(
    allSteps().flatMap(({ command }) => (inCi.has(subjectOf(command)) ? [] : [command])),
    [],
  );
});

test('CI runs the commands that README.md names for a checkout', () => {
  const [commands = ''] = /^npm ci .*?(?= #)/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const installs = readFileSync(join(ROOT, '.ci/run'), 'utf8').split('\n');
  const run = [...installs, ...stepsOfCi('soak', '0').map(({ command }) => command)];
  for (const command of commands.split(' && '))
    assert.ok(
      run.some((line) => line.startsWith(command)),
      command,
    );
});

test('every fifth of the fuzz cases has its turn', () => {
  const fifths = commits.flatMap((commit) =>
    stepsOfCi('soak', commit).flatMap(({ command }) => /--fifths (\d),(\d)/.exec(command)?.slice(1) ?? []),
  );
  assert.deepEqual([...new Set(fifths)].toSorted(), ['0', '1', '2', '3', '4']);
});

test('the steps name suites that exist, and package.json has no script for a suite', () => {
  const steps = [...allSteps(), ...SLOW_MACHINE_STEPS, ...Object.values(TURNS).flat()];
  for (const { command } of steps) {
    const name = SUITE.exec(command)?.[1];
    if (name !== undefined) assert.ok(name in SUITES, command);
  }
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const typed = Object.keys(scripts).filter((name) => !name.startsWith('pre'));
  assert.equal(typed.length, 10, typed.join());
});

test('the list of test/README.md has every suite', () => {
  const readme = readFileSync(join(ROOT, 'test/README.md'), 'utf8');
  const listed = Array.from(readme.matchAll(/`npm run suite -- ([a-z0-9-]+)[ `]/g), ([, name = '']) => name);
  assert.deepEqual([...new Set(listed)].toSorted(), Object.keys(SUITES).toSorted());
});

test('of a failed step the lines that name failures are shown, and the end', () => {
  const noise = Array.from({ length: 100 }, (_, n) => `line ${n}`);
  const shown = failuresIn(['✖ a test (1 ms)', ...noise, 'FAILED at the end'].join('\n')).split('\n');
  assert.equal(shown[0], '✖ a test (1 ms)');
  assert.equal(shown.at(-1), 'FAILED at the end');
  assert.equal(shown.length, 61);
});
