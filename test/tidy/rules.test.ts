/**
 * Every rule finds what it forbids, where it is, and leaves alone what it allows.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { ALLOWED_IMPORTS, ENTRY_POINTS } from './house.ts';
import {
  atomicsInTheirPlace,
  everythingIsReachable,
  filesAreShort,
  filesHaveAHeader,
  functionsAreShort,
  importDirections,
  namesSaySomething,
  noImportCycles,
  nothingIsSwitchedOff,
} from './rules.ts';
import type { Rule } from './rules.ts';
import { parseSource } from './source-file.ts';

/** `path:line` of every violation in these files. */
function violations(rule: Rule, texts: Readonly<Record<string, string>>): string[] {
  const files = Object.entries(texts).map(([path, text]) => parseSource(path, text));
  return rule(files).map(({ path, line }) => `${path}:${line}`);
}

describe('import directions', () => {
  const allows = (path: string, target: string): boolean =>
    violations(importDirections, { [path]: `/** A file. */\nimport type { X } from '${target}';` }).length ===
    0;

  test('keep the stages apart', () => {
    assert.equal(allows('src/reflector/a.ts', '../indexer/b.ts'), false);
    assert.equal(allows('src/indexer/a.ts', '../processor/b.ts'), false);
    assert.equal(allows('src/store/a.ts', '../processor/b.ts'), false);
    assert.equal(allows('src/processor/a.ts', '../transport/b.ts'), false);
    for (const between of ['ring', 'log', 'record', 'json', 'kube']) {
      assert.ok(allows('src/indexer/a.ts', `../${between}/b.ts`), between);
    }
  });

  test('keep what lies beneath from knowing what lies above', () => {
    assert.ok(allows('src/ring/a.ts', '../errors.ts'));
    assert.equal(allows('src/ring/a.ts', '../clock.ts'), false);
    assert.equal(allows('src/ring/a.ts', '../log/b.ts'), false);
    assert.equal(allows('src/errors.ts', './clock.ts'), false);
    assert.equal(allows('src/processor/a.ts', '../informer/b.ts'), false);
    assert.equal(allows('src/informer/a.ts', '../cli/b.ts'), false);
    assert.ok(allows('src/informer/a.ts', '../store/b.ts'));
    assert.ok(allows('src/cli/a.ts', '../informer/b.ts'));
  });

  test('show a stage the protocol of the threads, and nothing else of them', () => {
    assert.ok(allows('src/reflector/a.ts', '../threads/protocol.ts'));
    assert.equal(allows('src/reflector/a.ts', '../threads/layout.ts'), false);
    assert.equal(allows('src/threads/protocol.ts', './layout.ts'), false);
    assert.ok(allows('src/threads/layout.ts', './protocol.ts'));
  });

  test('keep workqueue and the embedded apiserver independent', () => {
    for (const part of ['ring', 'record', 'store', 'processor', 'informer', 'threads']) {
      assert.equal(allows('src/workqueue/a.ts', `../${part}/b.ts`), false, part);
      assert.equal(allows('src/embedded/a.ts', `../${part}/b.ts`), false, part);
    }
    assert.ok(allows('src/embedded/a.ts', './b.ts'));
  });

  test('lead to files, never to an index.ts, and never out of src', () => {
    assert.equal(allows('src/cli/a.ts', '../index.ts'), false);
    assert.equal(allows('src/cli/a.ts', '../embedded/index.ts'), false);
    assert.equal(allows('src/cli/a.ts', '../../test/ring/random.ts'), false);
  });

  test('are seen in every form of import, with their lines', () => {
    const text = [
      '/** A file. */',
      "import '../log/a.ts';",
      'export {',
      '  x,',
      "} from '../log/b.ts';",
      "const y = await import('../log/c.ts');",
      "const z = new URL('../log/d.js', import.meta.url);",
      "// import '../log/e.ts'",
      'const text = "import \'../log/f.ts\'";',
    ].join('\n');
    const expected = [2, 5, 6, 7].map((line) => `src/ring/a.ts:${line}`);
    assert.deepEqual(violations(importDirections, { 'src/ring/a.ts': text }), expected);
  });

  test('are asked of every folder: one without a row is a violation', () => {
    assert.deepEqual(violations(importDirections, { 'src/novelty/a.ts': '' }), ['src/novelty/a.ts:1']);
  });

  test('name only parts that have a row themselves', () => {
    for (const [part, allowed] of Object.entries(ALLOWED_IMPORTS)) {
      for (const other of allowed) assert.ok(Object.hasOwn(ALLOWED_IMPORTS, other), `${part} → ${other}`);
    }
  });
});

test('an import cycle is reported once, however long it is', () => {
  const files = {
    'src/a.ts': "import './b.ts';",
    'src/b.ts': "\nimport type { C } from './c.ts';",
    'src/c.ts': "import './a.ts';\nimport './d.ts';",
    'src/d.ts': '',
    'src/self.ts': "import './self.ts';",
  };
  assert.deepEqual(violations(noImportCycles, files), ['src/a.ts:1', 'src/self.ts:1']);
  assert.deepEqual(violations(noImportCycles, { ...files, 'src/c.ts': '', 'src/self.ts': '' }), []);
});

test('Atomics is found in code outside ring and log', () => {
  const text = '// Atomics\nAtomics.load(words, 0);';
  const files = { 'src/ring/a.ts': text, 'src/log/a.ts': text, 'src/store/a.ts': text, 'workers/a.ts': text };
  assert.deepEqual(violations(atomicsInTheirPlace, files), ['src/store/a.ts:2', 'workers/a.ts:2']);
});

test('a file may have 400 lines and not one more', () => {
  assert.deepEqual(violations(filesAreShort, { 'src/a.ts': 'x;\n'.repeat(400) }), []);
  assert.deepEqual(violations(filesAreShort, { 'src/a.ts': 'x;\n'.repeat(401) }), ['src/a.ts:401']);
});

test('a function may have 70 lines and not one more', () => {
  const functionOf = (lines: number): string => `\nfunction f(): void {\n${'  x;\n'.repeat(lines - 2)}}\n`;
  assert.deepEqual(violations(functionsAreShort, { 'src/a.ts': functionOf(70) }), []);
  assert.deepEqual(violations(functionsAreShort, { 'src/a.ts': functionOf(71) }), ['src/a.ts:2']);
});

test('a header is a comment of at least three words at the very start', () => {
  const good = [
    '/** What it is. */\nx;',
    '/*\n * What it\n * is\n */',
    '// What it is\nx;',
    '#!/x\n/** What it is. */',
  ];
  for (const text of good) assert.deepEqual(violations(filesHaveAHeader, { 'src/a.ts': text }), [], text);
  for (const text of [
    '',
    'x;\n/** What it is. */',
    '/** What. */\n/** A better one, later. */',
    '#!/x\nx;',
  ]) {
    assert.deepEqual(violations(filesHaveAHeader, { 'src/a.ts': text }), ['src/a.ts:1'], text);
  }
});

test('utils and helpers are no names, for a file or a folder', () => {
  const files = {
    'src/utils/a.ts': '',
    'src/ring/test-helpers.ts': '',
    'src/util.ts': '',
    'src/utility.ts': '',
  };
  assert.equal(violations(namesSaySomething, files).length, 3);
});

test('a file is reachable through imports from an entry point or a worker', () => {
  const files = Object.fromEntries(ENTRY_POINTS.map((entry) => [entry, '']));
  files['src/index.ts'] = "export { A } from './a.ts';";
  files['src/a.ts'] = "new Worker(new URL('../workers/w.js', import.meta.url));";
  files['workers/w.ts'] = "import type { B } from '../src/b.ts';";
  files['src/b.ts'] = '';
  assert.deepEqual(violations(everythingIsReachable, files), []);
  files['src/c.ts'] = "import './b.ts';";
  files['test/d.ts'] = "import '../src/c.ts';";
  assert.deepEqual(
    violations(everythingIsReachable, files),
    ['src/c.ts:1'],
    'a test makes nothing reachable',
  );
  delete files['src/cli/main.ts'];
  assert.equal(violations(everythingIsReachable, files)[0], 'src/cli/main.ts:1');
});

test('a test that is switched off is found, and work that is left', () => {
  const off = ['skip', 'only', 'todo'];
  for (const word of off) {
    assert.equal(violations(nothingIsSwitchedOff, { 'test/a.ts': `test.${word}('x', f);` }).length, 1);
    assert.equal(
      violations(nothingIsSwitchedOff, { 'test/a.ts': `test('x', { ${word}: true }, f);` }).length,
      1,
    );
    assert.equal(
      violations(nothingIsSwitchedOff, { 'test/a.ts': `f({ ${word}: 5 }); // test.${word}()` }).length,
      0,
    );
  }
  assert.deepEqual(violations(nothingIsSwitchedOff, { 'src/a.ts': '\n// TODO: later' }), ['src/a.ts:2']);
  assert.deepEqual(violations(nothingIsSwitchedOff, { 'src/a.ts': 'context.TODO(); list.skip(3);' }), []);
});
