/** Which test files share a process. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { groupTests } from './groups.ts';

const quiet = (path: string): { path: string; text: string } => ({ path, text: `test('a', () => {});` });

test('unit tests of a room share a process, up to six files', () => {
  const files = Array.from({ length: 8 }, (_, index) => quiet(`unit/http/${index}.test.js`));
  const other = quiet('unit/kube/a.test.js');
  const groups = groupTests([other, ...files]);
  assert.deepEqual(groups, [
    files.slice(0, 6).map(({ path }) => path),
    files.slice(6).map(({ path }) => path),
    [other.path],
  ]);
});

test('a file with a hook for all tests of its process, or outside the unit tests, is alone', () => {
  const hooked = { path: 'unit/http/b.test.js', text: `import x;\nafterEach(() => {});\n` };
  const warned = { path: 'unit/http/c.test.js', text: `process.on('warning', seen);` };
  const nested = { path: 'unit/http/d.test.js', text: `describe('x', () => {\n  afterEach(() => {});\n});` };
  const groups = groupTests([
    quiet('unit/http/a.test.js'),
    hooked,
    warned,
    nested,
    quiet('security/a.test.js'),
    quiet('security/b.test.js'),
  ]);
  assert.deepEqual(groups, [
    ['security/a.test.js'],
    ['security/b.test.js'],
    ['unit/http/a.test.js', 'unit/http/d.test.js'],
    ['unit/http/b.test.js'],
    ['unit/http/c.test.js'],
  ]);
});

test('every file is in exactly one group', () => {
  const files = ['unit/a/x', 'unit/b/x', 'unit/a/y', 'tidy/x'].map((name) => quiet(`${name}.test.js`));
  const grouped = groupTests(files).flat();
  assert.deepEqual(grouped.toSorted(), files.map(({ path }) => path).toSorted());
});
