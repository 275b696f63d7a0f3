/**
 * Every rule finds forbidden code and its place, and accepts allowed code.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { ENTRY_POINTS, ROOMS } from './house.ts';
import {
  atomicsInTheirPlace,
  edgesBetweenRooms,
  everythingIsReachable,
  filesAreShort,
  filesHaveAHeader,
  filesLongerThan,
  functionsAreShort,
  importDirections,
  membersDecideNothing,
  messagesHaveOneForm,
  namesSaySomething,
  noImportCycles,
  nothingIsSwitchedOff,
  waitsInTheirPlace,
} from './rules.ts';
import type { Rule } from './rules.ts';
import { decisionsAreShort } from './documents.ts';
import { proseViolations, roomOf, roomsMeetGoal, sentencesOf, withoutCode } from './prose.ts';
import { clocksOutside } from './real-time.ts';
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
    for (const [stage, other] of [
      ['reflector', 'indexer'],
      ['reflector', 'replica'],
      ['indexer', 'replica'],
    ]) {
      assert.equal(allows(`src/${stage}/a.ts`, `../${other}/b.ts`), false, `${stage} → ${other}`);
      assert.equal(allows(`src/${other}/a.ts`, `../${stage}/b.ts`), false, `${other} → ${stage}`);
    }
    for (const between of ['shared', 'kube', 'base']) {
      assert.ok(allows('src/indexer/a.ts', `../${between}/b.ts`), between);
    }
  });

  test('never lead upwards', () => {
    for (const [index, { name, imports }] of ROOMS.entries()) {
      for (const other of imports.filter((each) => each !== 'entries')) {
        assert.ok(ROOMS.findIndex((room) => room.name === other) > index, `${name} → ${other}`);
      }
    }
    assert.equal(allows('src/shared/ring/a.ts', '../../replica/b.ts'), false);
    assert.equal(allows('src/informer/a.ts', '../tools/cli/b.ts'), false);
    assert.equal(allows('src/informer/a.ts', '../index.ts'), false);
    assert.ok(allows('src/informer/threads/a.ts', '../../replica/b.ts'));
  });

  test('let tools import what users can import, and requests', () => {
    assert.ok(allows('src/tools/cli/a.ts', '../../index.ts'));
    assert.ok(allows('src/tools/cli/a.ts', '../../workqueue/index.ts'));
    assert.ok(allows('src/tools/loadtest/a.ts', '../../http/b.ts'));
    assert.equal(allows('src/tools/cli/a.ts', '../../workqueue/b.ts'), false);
    assert.equal(allows('src/tools/cli/a.ts', '../../informer/b.ts'), false);
    assert.equal(allows('src/tools/apiserver/a.ts', '../../index.ts'), false);
  });

  test('let a worker wire one stage to its thread', () => {
    assert.ok(allows('workers/a.ts', '../src/reflector/b.ts'));
    assert.equal(allows('workers/a.ts', '../src/informer/b.ts'), false);
    assert.ok(allows('src/informer/a.ts', '../../workers/b.ts'));
  });

  test('never lead out of the product', () => {
    assert.equal(allows('src/tools/cli/a.ts', '../../test/kit/random.ts'), false);
  });

  test('are seen in every form of import, with their lines', () => {
    const text = [
      '/** A file. */',
      "import '../cli/a.ts';",
      'export {',
      '  x,',
      "} from '../cli/b.ts';",
      "const y = await import('../cli/c.ts');",
      "const z = new URL('../cli/d.js', import.meta.url);",
      "// import '../cli/e.ts'",
      'const text = "import \'../cli/f.ts\'";',
    ].join('\n');
    const expected = [2, 5, 6, 7].map((line) => `src/kube/a.ts:${line}`);
    assert.deepEqual(violations(importDirections, { 'src/kube/a.ts': text }), expected);
  });

  test('apply to every folder: a folder that is no room is a violation', () => {
    assert.deepEqual(violations(importDirections, { 'src/novelty/a.ts': '' }), ['src/novelty/a.ts:1']);
  });

  test('count once for each pair of rooms, types and workers included', () => {
    const texts = {
      'src/replica/a.ts':
        "import type { X } from '../shared/x.ts';\nimport '../shared/y.ts';\nimport './z.ts';",
      'workers/a.ts': "import '../src/reflector/b.ts';",
      'src/informer/a.ts': "new URL('../../workers/a.js', import.meta.url);",
      'test/a.test.ts': "import '../src/kube/b.ts';",
    };
    const files = Object.entries(texts).map(([path, text]) => parseSource(path, text));
    assert.deepEqual(
      [...edgesBetweenRooms(files)],
      ['replica → shared', 'workers → reflector', 'informer → workers'],
    );
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

test('Atomics is found in code outside word.ts and deadline.ts', () => {
  const text = '// Atomics\nAtomics.load(words, 0);';
  const inside = { 'src/shared/ring/word.ts': text, 'src/shared/ring/deadline.ts': text };
  const files = { ...inside, 'src/shared/ring/bell.ts': text, 'workers/a.ts': text };
  assert.deepEqual(violations(atomicsInTheirPlace, files), ['src/shared/ring/bell.ts:2', 'workers/a.ts:2']);
});

test('a member decides nothing, unless it is listed', () => {
  const text = `\nif ('key' in object) {}\nif (object['dead'] === true) {}\nif ('code' in error) {}\nif (mark in object) {}`;
  const files = { 'src/a.ts': text, 'test/a.ts': text };
  assert.deepEqual(violations(membersDecideNothing, files), ['src/a.ts:2', 'src/a.ts:3']);
});

test('a file may have 500 lines and not one more', () => {
  assert.deepEqual(violations(filesAreShort, { 'src/a.ts': 'x;\n'.repeat(500) }), []);
  assert.deepEqual(violations(filesAreShort, { 'src/a.ts': 'x;\n'.repeat(501) }), ['src/a.ts:501']);
});

test('the longest file is named first', () => {
  const files = [3, 1, 2].map((lines) => parseSource(`src/${lines}.ts`, 'x;\n'.repeat(lines)));
  const long = filesLongerThan(1, files).map(({ path, message }) => `${path} ${message}`);
  assert.deepEqual(long, ['src/3.ts 3 lines, at most 1: split it', 'src/2.ts 2 lines, at most 1: split it']);
});

describe('clocks and timers in tests', () => {
  const found = (code: string, path = 'test/a.ts'): number =>
    violations(clocksOutside({}), { [path]: code }).length;

  test('are found in code, and nowhere else', () => {
    for (const code of [
      'setTimeout(go, 5);',
      'setInterval(look, 5);',
      "import { setTimeout as delay } from 'node:timers/promises';",
      'const startMs = performance.now();',
      'const clock = { now: Date.now };',
      'process.cpuUsage();',
      'process.hrtime.bigint();',
      'monitorEventLoopDelay();',
      'AbortSignal.timeout(60_000);',
      "test('a', { timeout: 60_000 }, f);",
      'f({ clock: realClock });',
      "import { sleep } from '../../src/base/sleep.ts';",
      'new TimeLimit(50, signal);',
    ]) {
      assert.equal(found(code), 1, code);
      assert.equal(found(code, 'src/a.ts'), 0, code);
      assert.equal(found(`// ${code}`), 0, code);
    }
  });

  test('may be fakes, and limits of HANG_MS', () => {
    for (const code of [
      'AbortSignal.timeout(HANG_MS);',
      "test('a', { timeout: HANG_MS }, f);",
      'setImmediate(go);',
    ])
      assert.equal(found(code), 0, code);
    assert.equal(found('new TimeLimit(50, signal, clock); clock.advance(50); clock.schedule(5, go);'), 0);
  });

  test('stay in the files of the list, which has no other file', () => {
    const rule = clocksOutside({ 'test/a.ts': 'a reason', 'test/b.ts': 'a reason', 'test/c.ts': 'a reason' });
    const files = { 'test/a.ts': 'setTimeout(go, 5);', 'test/b.ts': '', 'test/d.ts': '\nDate.now();' };
    assert.deepEqual(violations(rule, files), ['test/d.ts:2', 'test/b.ts:1', 'test/c.ts:1']);
  });
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
  delete files['src/tools/cli/main.ts'];
  assert.equal(violations(everythingIsReachable, files)[0], 'src/tools/cli/main.ts:1');
});

test('messages of errors begin in lower case or with a name, are one line, and end without a full stop', () => {
  const thrown = (message: string): string => `throw new KubeloomError('ERR_KUBELOOM_KEY', ${message});`;
  for (const good of ["'no key: set a name'", '`${name} has no key.${why}`', "'GET /: no.' +\n  ' JSON'"])
    assert.deepEqual(violations(messagesHaveOneForm, { 'src/a.ts': thrown(good) }), [], good);
  for (const bad of ["'No key'", "'no key.'", '`no key` +\n  `.`', "'no\\nkey'"])
    assert.deepEqual(
      violations(messagesHaveOneForm, { 'src/a.ts': `\n${thrown(bad)}` }),
      ['src/a.ts:2'],
      bad,
    );
  const named = "const message = 'No key';\nthrow new KubeloomError('ERR_KUBELOOM_KEY', message);";
  assert.deepEqual(violations(messagesHaveOneForm, { 'src/a.ts': named }), ['src/a.ts:1']);
  assert.deepEqual(violations(messagesHaveOneForm, { 'test/a.ts': named }), []);
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

test('the prose of a document is checked, at its line, and its code is not', () => {
  const document = 'One `told` value.\n\n```ts\nconst told = 1;\n```\n\nThe handler is told.\n';
  assert.deepEqual(
    proseViolations('a.md', withoutCode(document)).map(({ path, line }) => `${path}:${line}`),
    ['a.md:7'],
  );
});

describe('waits in their place', () => {
  const count = (code: string, path = 'src/a/b.ts'): number =>
    violations(waitsInTheirPlace, { [path]: `/** A file. */\n${code}\n` }).length;

  test('are timers of a constant delay, and clocks for the others', () => {
    assert.equal(count('realTimers.setTimeout(resolve, PAUSE_MS);'), 0);
    assert.equal(count('clock.schedule(delayMs, tick);'), 0);
    assert.equal(count('realTimers.setTimeout(resolve, delayMs);'), 1);
    assert.equal(count('realTimers.setInterval(() => tick(), options.intervalMs);'), 1);
    assert.equal(count('realTimers.setTimeout(resolve, delayMs);', 'src/base/clock.ts'), 0);
    assert.equal(count("import { setTimeout as delay } from 'node:timers/promises';"), 1);
    assert.equal(count('const signal = AbortSignal.timeout(5000);'), 1);
  });

  test('are lines of JSON, and items of a queue one after the other', () => {
    assert.equal(count('printLine(JSON.stringify(report));'), 1);
    assert.equal(count('printJson(JSON.stringify(report));'), 0);
    assert.equal(count('queue.addWithOptions({ priority: of(change) }, ...keys);'), 1);
    assert.equal(count('queue.addWithOptions({ priority }, key);'), 0);
  });

  test('are listeners that cannot come too late', () => {
    assert.equal(count("signal.addEventListener('abort', stop);"), 1);
    assert.equal(count("signal.addEventListener('abort', stop);", 'src/base/on-abort.ts'), 0);
    assert.equal(count('onAbort(signal, stop);'), 0);
  });
});

test('a comment is one text from line to line, its code is blank, and it ends as a sentence', () => {
  const text = '/**\n * Reads `one` word\n * at a time.\n */\nrun(); // first\n// Second line\n// goes on\n';
  const { comments } = parseSource('src/a.ts', text);
  assert.deepEqual(sentencesOf(comments), ['Reads x word at a time.', 'first Second line goes on.']);
});

test('a room ends with its folder, and tools are rooms of their own', () => {
  const paths = [
    'src/shared/ring/bell.ts',
    'src/tools/cli/main.ts',
    'src/index.ts',
    'workers/shard.ts',
    'test/a.ts',
  ];
  assert.deepEqual(paths.map(roomOf), ['src/shared', 'src/tools/cli', 'src', 'workers', undefined]);
});

test('a room above the goal is reported with the word', () => {
  const found = roomsMeetGoal([
    parseSource('src/a/a.ts', '// The shard has it.'),
    parseSource('src/b/b.ts', '// Ends the same, and waits then'),
    parseSource('src/c/c.ts', '// The same version, then a key.'),
  ]).map(({ path, message }) => `${path} ${message.split(' ')[0]}`);
  assert.deepEqual(found, ["src/a 'has'", "src/b 'nounless'", "src/b 'hanging'"]);
});

test('a decision without a price, or of more than half a page, is found', () => {
  const whole = '**Context.** a **Choice.** b **Price.** c **What would reverse it.** d';
  const found = decisionsAreShort([
    { path: 'docs/decisions/0001-a.md', text: whole },
    { path: 'docs/decisions/0002-b.md', text: whole.replace('**Price.**', '') },
    { path: 'docs/decisions/0003-c.md', text: whole + 'x'.repeat(4000) },
    { path: 'docs/decisions/figures/0004-d.md', text: '' },
  ]);
  assert.deepEqual(
    found.map(({ path }) => path),
    ['docs/decisions/0002-b.md', 'docs/decisions/0003-c.md'],
  );
});
