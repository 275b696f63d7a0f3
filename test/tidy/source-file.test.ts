/**
 * The parts of a file that count as code, and as comment.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { lineAt, parseSource } from './source-file.ts';
import { functionsOf } from './functions.ts';

function codeOf(text: string): string {
  return parseSource('sample.ts', text).code;
}

describe('the code of a file keeps every position and drops', () => {
  test('comments, which are kept apart', () => {
    const { code, comments } = parseSource('sample.ts', 'a(); // b\n/* c\nd */ e();');
    assert.equal(code, 'a();     \n    \n     e();');
    assert.equal(comments, '     // b\n/* c\nd */     ');
  });

  test('the contents of strings', () => {
    assert.equal(codeOf(`a('// no', "it's", '\\'')`), `a('     ', "    ", '  ')`);
  });

  test('the text of templates, but not the expressions in them', () => {
    assert.equal(codeOf('`a ${b(`c ${d}`, { e: 1 })} f` + g'), '`  ${b(`  ${d}`, { e: 1 })}  ` + g');
    assert.equal(codeOf('`$5 \\` \\${` + a'), '`         ` + a');
  });

  test('regular expressions, but not divisions', () => {
    assert.equal(codeOf("a = /['/]\\/`/g; b"), 'a =           ; b');
    assert.equal(codeOf('return /"/.test(a)'), 'return    .test(a)');
    assert.equal(codeOf("a / b / c + (d) / e[0] / 2 + 'f'"), "a / b / c + (d) / e[0] / 2 + ' '");
  });
});

test('lines are counted from 1', () => {
  const text = 'a\nb\n\nc';
  assert.deepEqual(
    [0, 1, 2, 4, 5].map((position) => lineAt(text, position)),
    [1, 1, 2, 3, 4],
  );
});

/** `first line – number of lines` for every function found. */
function measure(...lines: readonly string[]): string[] {
  return functionsOf(parseSource('sample.ts', lines.join('\n'))).map(
    ({ line, lines }) => `${line} – ${lines}`,
  );
}

describe('a function is measured from its head to its closing bracket', () => {
  test('when it is declared on one line', () => {
    assert.deepEqual(measure('export function f(a: number): void {', '  g();', '}', 'g();'), ['1 – 3']);
    assert.deepEqual(measure('async function* f<T>(a: T): Map<T, {}> {', '  yield 1;', '}'), ['1 – 3']);
  });

  test('when its parameters are spread over lines', () => {
    assert.deepEqual(measure('function f(', '  a: number,', '): void {', '  g();', '}'), ['1 – 5']);
    assert.deepEqual(measure('function f<', '  T,', '>(a: T): void {', '  g();', '}'), ['1 – 5']);
    assert.deepEqual(measure('function f({', '  a,', '  b,', '}: Options): void {', '  g();', '}'), [
      '1 – 6',
    ]);
    assert.deepEqual(measure('test(1, async ({', '  a,', '}) => {', '  g();', '});'), ['1 – 5']);
  });

  test('when its return type is spread over lines', () => {
    assert.deepEqual(measure('function f(): {', '  a: number;', '} {', '  return g();', '}'), ['1 – 5']);
  });

  test('when it is a member of a class', () => {
    const found = measure(
      'class C<T> {',
      '  constructor(a: T) {',
      '    this.a = a;',
      '  }',
      '',
      '  async #run<U>(b: U): Promise<void> {',
      '    await b;',
      '  }',
      '',
      '  static override get size(): number {',
      '    return 1;',
      '  }',
      '',
      '  async *[Symbol.asyncIterator](): AsyncGenerator<T> {',
      '    yield this.a;',
      '  }',
      '}',
    );
    assert.deepEqual(found, ['2 – 3', '6 – 3', '10 – 3', '14 – 3']);
  });

  test('when it is an arrow function with a body', () => {
    assert.deepEqual(measure('const f = (a: number): number => {', '  return a;', '};'), ['1 – 3']);
    assert.deepEqual(measure('  promise', '    .then((a) => {', '      g(a);', '    })', '    .run();'), [
      '2 – 3',
    ]);
    assert.deepEqual(measure('call(', '  1,', '  () => {', '    g();', '  },', ');'), ['3 – 3']);
  });

  test('when it is an arrow function with an expression', () => {
    assert.deepEqual(measure('const f = (a: A) => ({', '  a,', '});'), ['1 – 3']);
    assert.deepEqual(measure('const f = (a: A) => g(h(a), [', '  a,', ']);'), ['1 – 3']);
    assert.deepEqual(measure('const f = (a: A) =>', '  a', '    .b();', 'g();'), ['1 – 3']);
    assert.deepEqual(
      measure('const f = list.map((a) => a.b, {', '  c,', '});'),
      [],
      'the object is not its body',
    );
  });

  test('when it lies in another, both are measured', () => {
    assert.deepEqual(measure('function f() {', '  g(() => {', '    h();', '  });', '}'), ['1 – 5', '2 – 3']);
  });

  test('when strings, templates and comments hold brackets', () => {
    const found = measure(
      'function f() {',
      "  g('{', /[}{]/, `",
      '}',
      '${h({ a: `}` })}',
      '}`); // }',
      '  /* }',
      '}',
      '  */',
      '}',
    );
    assert.deepEqual(found, ['1 – 9']);
  });
});

describe('not a function', () => {
  test('is control flow, a type, a class or an object', () => {
    const found = measure(
      'class C extends D(E) {',
      '  readonly a: { b: number } = {',
      '    b: 1,',
      '  };',
      '}',
      'interface I {',
      '  f(): void;',
      '}',
      'if (f(a)) {',
      '} else if (g(b)) {',
      '  for await (const x of f(y)) {',
      '  }',
      '}',
      'switch (f()) {',
      '}',
      'try {',
      '} catch (error) {',
      '}',
      'call(f(), {',
      '});',
    );
    assert.deepEqual(found, []);
  });

  test('is a group of tests, or a function that begins with one', () => {
    const group = ["describe('x', () => {", "  test('y', () => {", '    f();', '  });', '});'];
    assert.deepEqual(measure(...group), ['2 – 3']);
    assert.deepEqual(measure('export function suite(): void {', ...group.map((line) => `  ${line}`), '}'), [
      '3 – 3',
    ]);
  });
});
