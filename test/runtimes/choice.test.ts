/** Tests of the choice of runtimes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODES, OTHERS } from '../package/runtimes.ts';
import { ROOT } from '../package/installation.ts';
import { chosenRuntimes, countsOf } from './choice.ts';

test('all runtimes are run unless some are named, and an unknown name is refused', () => {
  const all = [...NODES, ...OTHERS];
  assert.equal(chosenRuntimes(all, []), all);
  assert.deepEqual(
    chosenRuntimes(all, ['24', '20', 'bun']).map(({ name }) => name),
    ['Node 24', 'Node 20', 'Bun'],
  );
  assert.throws(
    () => chosenRuntimes(all, ['21']),
    /no runtime 21: Node 20, Node 22, Node 24, Node 26, Bun, Deno$/,
  );
});

test('a command is summed up by its version of Node and its numbers of tests, without zeros', () => {
  const counts = 'ℹ tests 12\nℹ suites 3\nℹ pass 11\nℹ fail 0\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n';
  assert.equal(
    countsOf(`v24.1.0\n\n✔ a test of 5 tests (1 ms)\n${counts}`),
    'v24.1.0: 12 tests, 11 pass, 1 skipped',
  );
  assert.equal(countsOf('v26.0.0\n{"verdict":"PASS"}\n'), 'v26.0.0');
  assert.equal(countsOf(''), '');
});

test('the oldest line is the oldest that package.json admits', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  assert.equal(NODES[0]?.name, `Node ${/^>=(\d+)/.exec(engines.node)?.[1]}`);
});
