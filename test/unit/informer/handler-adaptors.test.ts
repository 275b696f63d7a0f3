/** Ready-made handlers, their names, and what a deletion is about. */
import { Mark } from '../../../src/kube/meta-shape.ts';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DeletedFinalStateUnknown } from '../../../src/index.ts';
import {
  FilteringResourceEventHandler,
  ResourceEventHandlerDetailedFuncs,
  ResourceEventHandlerFuncs,
  deletedObject,
  nameForHandler,
} from '../../../src/client-go/index.ts';
import type { Borrowed, ResourceEventHandler } from '../../../src/index.ts';
import { tombstone } from '../../../src/kube/tombstone.ts';
import { Lines, pod } from './scene.ts';
import type { Pod } from './scene.ts';

/** As much of an entry as handlers here look at. */
function entry(name: string, isIn: boolean = true): Borrowed<Pod> {
  const identity = { [Mark.Entry]: true, finalStateUnknown: false, key: `ns/${name}`, namespace: 'ns', name };
  return { ...identity, labels: { isIn: String(isIn) } } as unknown as Borrowed<Pod>;
}

describe('handlers of single functions', () => {
  test('call the given functions with the arguments of a handler, and return their results', () => {
    const calls: unknown[][] = [];
    const record = (...call: unknown[]): number => calls.push(call);
    const [a, b] = [entry('a'), entry('b')];
    const funcs = { addFunc: record, updateFunc: record, deleteFunc: record };
    const handler = new ResourceEventHandlerFuncs<Pod>(funcs);
    assert.deepEqual([handler.onAdd(a), handler.onUpdate(a, b), handler.onDelete(b)], [1, 2, 3]);
    assert.deepEqual(calls.splice(0), [[a], [a, b], [b]]);
    const detailed = new ResourceEventHandlerDetailedFuncs<Pod>(funcs);
    assert.deepEqual(
      [detailed.onAdd(a, true), detailed.onAdd(a, false), detailed.onUpdate(a, b), detailed.onDelete(b)],
      [1, 2, 3, 4],
    );
    assert.deepEqual(calls, [[a, true], [a, false], [a, b], [b]]);
  });

  test('may lack any of them', () => {
    for (const handler of [
      new ResourceEventHandlerFuncs<Pod>({}),
      new ResourceEventHandlerDetailedFuncs<Pod>({}),
      new FilteringResourceEventHandler<Pod>({ filterFunc: () => true, handler: {} }),
    ]) {
      assert.equal(handler.onAdd(entry('a'), true), undefined);
      assert.equal(handler.onUpdate(entry('a'), entry('a')), undefined);
      assert.equal(handler.onUpdate(entry('a', false), entry('a')), undefined);
      assert.equal(handler.onDelete(entry('a')), undefined);
    }
  });
});

describe('a filtering handler', () => {
  function filtering(): { lines: Lines; handler: FilteringResourceEventHandler<Pod> } {
    const lines = new Lines((line) => line);
    const filterFunc = ({ labels }: Borrowed<Pod>): boolean => labels['isIn'] === 'true';
    return { lines, handler: new FilteringResourceEventHandler<Pod>({ filterFunc, handler: lines }) };
  }

  test('asks the filter about the object of a tombstone of the lower layers', () => {
    const deleted: unknown[] = [];
    const handler = new FilteringResourceEventHandler<Pod>({
      filterFunc: ({ name }) => name === 'a',
      handler: { onDelete: (last) => deleted.push(last) },
    });
    const [a, b] = ['a', 'b'].map((name) => tombstone(name, { name }));
    for (const dead of [a, b]) handler.onDelete(dead as never);
    assert.deepEqual(deleted, [a]);
  });

  test('passes additions and deletions of objects that match the filter', () => {
    const { lines, handler } = filtering();
    assert.equal(handler.onAdd(entry('in'), true), 'add! in');
    handler.onAdd(entry('in'), false);
    handler.onAdd(entry('out', false), true);
    handler.onDelete(entry('in'));
    handler.onDelete(entry('out', false));
    assert.deepEqual(lines.lines, ['add! in', 'add in', 'delete in']);
  });

  for (const [wasIn, isIn, expected] of [
    [true, true, 'update new'],
    [false, true, 'add new'],
    [true, false, 'delete old'],
    [false, false, undefined],
  ] as const) {
    test(`makes of an update (${wasIn}, ${isIn}): ${expected ?? 'nothing'}`, () => {
      const { lines, handler } = filtering();
      assert.equal(handler.onUpdate(entry('old', wasIn), entry('new', isIn)), expected);
      assert.deepEqual(lines.lines, expected === undefined ? [] : [expected]);
    });
  }

  test('asks for the last state of an object that only a relist found missing', () => {
    const { lines, handler } = filtering();
    handler.onDelete(new DeletedFinalStateUnknown(entry('in')));
    handler.onDelete(new DeletedFinalStateUnknown(entry('out', false)));
    assert.deepEqual(lines.lines, ['lost in']);
  });
});

describe('the name of a handler', () => {
  function podAdded(): void {}
  function podChanged(): void {}

  const filterFunc = (): boolean => true;
  const CASES: readonly (readonly [string, ResourceEventHandler<never>, string])[] = [
    ['its class', new Lines(), 'Lines'],
    ['`handler` for a class without a name', new (class extends Lines {})(), 'handler'],
    [
      'the names of its functions, each once',
      { onAdd: podAdded, onUpdate: podChanged, onDelete: podChanged },
      'podAdded+podChanged',
    ],
    ['the name of a bound function', { onAdd: podAdded.bind(undefined), onDelete() {} }, 'podAdded'],
    ['a name in its funcs', new ResourceEventHandlerFuncs({ updateFunc: podChanged }), 'podChanged'],
    [
      'a name in its detailed funcs',
      new ResourceEventHandlerDetailedFuncs({ addFunc: podAdded, deleteFunc: () => {} }),
      'podAdded',
    ],
    ['`handler` without functions', {}, 'handler'],
    ['`handler` for functions without names', { onAdd() {}, onUpdate: () => {} }, 'handler'],
    ['`handler` for funcs without names', new ResourceEventHandlerFuncs({ addFunc: () => {} }), 'handler'],
    [
      'the name of a function of an object without a prototype',
      Object.assign(Object.create(null) as object, { onAdd: podAdded }),
      'podAdded',
    ],
    [
      'the name of the handler behind a filter',
      new FilteringResourceEventHandler({ filterFunc, handler: new Lines() }),
      'Lines',
    ],
  ];
  for (const [what, handler, name] of CASES) {
    test(`is ${what}`, () => assert.equal(nameForHandler(handler), name));
  }
});

describe('a deleted object', () => {
  const last = entry('a');
  const lost = new DeletedFinalStateUnknown(last);
  const marks = [tombstone('ns/b', undefined), tombstone('cluster', { a: 1 }), tombstone('a/b/c', undefined)];
  const CASES: readonly (readonly [string, unknown, readonly [string, string, string], unknown, unknown])[] =
    [
      ['is the last state, of an ordinary deletion', last, ['ns/a', 'ns', 'a'], last, undefined],
      ['is a plain object of the lower layers', pod('b'), ['ns/b', 'ns', 'b'], pod('b'), undefined],
      ['is what was last known of one that a relist found missing', lost, ['ns/a', 'ns', 'a'], last, lost],
      ['has no state without a last known one', marks[0], ['ns/b', 'ns', 'b'], undefined, marks[0]],
      ['is the object in a tombstone', marks[1], ['cluster', '', 'cluster'], { a: 1 }, marks[1]],
      ['has a name for a key of another form', marks[2], ['a/b/c', '', 'a/b/c'], undefined, marks[2]],
      ['has an empty key without an object', undefined, ['', '', ''], undefined, undefined],
      ['has an empty key for text', 'text', ['', '', ''], 'text', undefined],
      ['has an empty key without metadata', {}, ['', '', ''], {}, undefined],
      ['has an empty key without a name', { metadata: {} }, ['', '', ''], { metadata: {} }, undefined],
    ];
  for (const [title, deleted, identity, optionalObject, finalStateUnknown] of CASES) {
    test(title, () => {
      const found = deletedObject(deleted);
      assert.deepEqual([found.key, found.namespace, found.name], identity);
      assert.deepEqual(found.optionalObject, optionalObject);
      assert.equal(found.finalStateUnknown, finalStateUnknown);
    });
  }
});
