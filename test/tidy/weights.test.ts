/**
 * Limits hold the weight in both directions, numbers are counted from the code, and a raise without a new reason is found.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { parseSource } from './source-file.ts';
import { earlierWeights, namesIn, optionsIn, raisesWithoutReason, weigh, weightFaults } from './weights.ts';
import type { Weights } from './weights.ts';

const weights = (limit: number, because = 'as found that day', on = '2026-11-28'): Weights => ({
  options: { limit, on, because },
});

describe('a weight', () => {
  const faults = (limits: Weights, number: number): string[] =>
    weightFaults(limits, new Map([['options', number]])).map((fault) =>
      fault.split(': ').slice(1).join(': '),
    );

  test('may be at its limit, and two in a hundred below', () => {
    for (const number of [98, 100]) assert.deepEqual(faults(weights(100), number), []);
    assert.match(faults(weights(100), 101)[0] ?? '', /^101, at most 100: remove as much, or raise/);
    assert.deepEqual(faults(weights(100), 97), ['97 of 100: lower the limit to 97']);
  });

  test('has a limit, a reason and a date, and a limit has a weight', () => {
    assert.match(faults({}, 5)[0] ?? '', /^5, without a limit/);
    for (const bad of [weights(5, 'because'), weights(5, 'as found that day', 'today')])
      assert.match(faults(bad, 5)[0] ?? '', /^a limit has a reason of 4 words or more, and a date/);
    assert.deepEqual(weightFaults(weights(5), new Map()), ['options: weighs nothing: delete its line']);
  });

  test('is counted in rooms, in the library, tools, tests and benchmarks', () => {
    const files = [
      'src/kube/a.ts',
      'src/kube/b.ts',
      'workers/w.ts',
      'src/tools/cli/a.ts',
      'test/a.ts',
      'bench/a.ts',
    ];
    const counted = weigh(files.map((path, index) => parseSource(path, 'x;\n'.repeat(index + 1))));
    const lines = Array.from(counted).filter(([name]) => name.startsWith('lines of '));
    assert.deepEqual(Object.fromEntries(lines), {
      'lines of the library': 6,
      'lines of kube': 3,
      'lines of workers': 3,
      'lines of the tools': 4,
      'lines of tools/cli': 4,
      'lines of the tests': 5,
      'lines of the benchmarks': 6,
    });
    assert.equal(counted.get('rooms'), 3);
  });
});

test('each member of a table of options counts, and a spread does not', () => {
  const code = `
    const A: OptionChecks<AOptions<unknown>> = {
      ...B, one: integer(1, 2), two,
      group: nested<Group<'a'>>({ three: oneOf('x', 'y'), four: text }),
    };
    const C = {
      ...A,
      five: flag,
    } satisfies OptionChecks<C>;
    const other: Options = { six: 6 };
    function check(checks: OptionChecks<C>): void { run({ seven: 7 }); }`;
  assert.equal(optionsIn(parseSource('src/a.ts', code)), 6);
});

test('names are those that a report exports, overloads once', () => {
  const report = [
    'export function a(): void;',
    'export function a(b: string): void;',
    'export abstract class B {',
    '    export type c = 1;',
    'interface D {',
    'declare namespace e {',
  ];
  assert.equal(namesIn(report.join('\n')), 3);
});

describe('a higher limit', () => {
  const raises = (before: Weights, after: Weights): number => raisesWithoutReason(before, after).length;

  test('has a new reason, whose date is not earlier', () => {
    assert.equal(raises(weights(5), weights(6)), 1);
    assert.equal(raises(weights(5), weights(6, 'as found that day', '2026-11-29')), 1);
    assert.equal(raises(weights(5), weights(6, 'watches have a limit', '2026-11-27')), 1);
    assert.equal(raises(weights(5), weights(6, 'watches have a limit')), 0);
  });

  test('is the only change that asks for a reason', () => {
    for (const limit of [4, 5]) assert.equal(raises(weights(5), weights(limit)), 0);
    assert.equal(raises({}, weights(5)), 0);
    assert.equal(raises(weights(5), {}), 0);
  });

  test('is seen against every earlier version in the history, and a folder outside of git has none', async () => {
    await using folder = new TemporaryFolder();
    assert.deepEqual(earlierWeights(folder.path), []);
    const env = { PATH: process.env['PATH'] };
    const git = (...command: string[]): Buffer => execFileSync('git', command, { cwd: folder.path, env });
    git('init', '--quiet');
    mkdirSync(folder.file('test/tidy'), { recursive: true });
    for (const limit of [5, 4]) {
      folder.write('test/tidy/weights.json', JSON.stringify(weights(limit)));
      git('add', '.');
      git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'A version');
    }
    const versions = earlierWeights(folder.path);
    assert.deepEqual(versions, [weights(4), weights(5)]);
    assert.equal(versions.flatMap((before) => raisesWithoutReason(before, weights(5))).length, 1);
  });
});
