/** Rules that the generator learns from answers: small answers, and the rules that explain them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ShapeNode } from '../../../../../src/tools/apiserver/shapes/shapes.ts';
import type { Json, JsonObject } from '../../../../../src/tools/apiserver/store/json.ts';
import { differences } from '../../../../e2e/shapes/differences.ts';
import { learnFrozen, learnRules } from '../../../../e2e/shapes/learn-rules.ts';
import type { Answer } from '../../../../e2e/shapes/learn-rules.ts';
import { othersFor, placesIn, valuesFor, withValue } from '../../../../e2e/shapes/places.ts';
import type { Place } from '../../../../e2e/shapes/places.ts';

const ROOT: ShapeNode = { $ref: 'T' };

/** Returns a shape of one struct `spec`, without rules. */
function shapesWith(members: { [name: string]: ShapeNode }): { T: ShapeNode; Spec: ShapeNode } {
  return {
    T: { properties: { spec: { $ref: 'Spec', go: 'Spec' }, metadata: { type: 'object' } } },
    Spec: { properties: members },
  };
}

type Shapes = ReturnType<typeof shapesWith>;

/** Returns the answer to a creation in which `spec` has a value; a refusal with messages about the member. */
function answerOf(
  shapes: Shapes,
  whole: JsonObject,
  name: string,
  value: Json | undefined,
  result: JsonObject | readonly string[],
): Answer & { readonly root: ShapeNode } {
  const object = { spec: whole };
  const place =
    placesIn(shapes, object, ROOT).find(({ field }) => field === `spec.${name}`) ?? assert.fail(name);
  const isRefused = Array.isArray(result);
  return {
    place,
    value,
    sent: withValue(object, place.path, value),
    status: isRefused ? 422 : 201,
    causes: isRefused ? result.map((message: string) => ({ field: place.field, message })) : [],
    stored: isRefused ? null : { spec: result as JsonObject },
    root: ROOT,
  };
}

type Row = readonly [name: string, value: Json | undefined, result: JsonObject | readonly string[]];

/** Returns the members of `spec` with the rules that the answers tell. */
function learnt(
  members: { [name: string]: ShapeNode },
  whole: JsonObject,
  rows: readonly Row[],
): { [name: string]: ShapeNode } {
  const shapes = shapesWith(structuredClone(members));
  learnRules(
    shapes,
    rows.map((row) => answerOf(shapes, whole, ...row)),
  );
  return shapes.Spec.properties ?? {};
}

const A: ShapeNode = { type: 'string', go: 'string' };
const N: ShapeNode = { type: 'integer', go: 'int32' };
const LIMIT = 'must be greater than or equal to 0';
const NAMES = 'supported values: "one", "two"';

describe('rules of members', () => {
  it('have the words for wrong values, if the words tell which values are wrong', () => {
    const bad: Row = ['n', -1, [`Invalid value: -1: ${LIMIT}`]];
    const good: Row = ['n', 7, { n: 7 }];
    assert.deepEqual(learnt({ n: N }, { n: 1 }, [bad, good])['n']?.refused, [LIMIT]);
    const also: Row = ['n', 7, [`Invalid value: 7: ${LIMIT}`]];
    assert.equal(learnt({ n: N }, { n: 1 }, [bad, also])['n']?.refused, undefined);
    const unknown: Row = ['n', -1, ['Invalid value: -1: must be nice']];
    assert.equal(learnt({ n: N }, { n: 1 }, [unknown])['n']?.refused, undefined);
    assert.equal(learnt({ n: N }, { n: -5 }, [bad])['n']?.refused, undefined, 'the manifest is valid');
  });

  it('have the words for absence, unless the server accepts an object without the member', () => {
    const absent: Row = ['a', undefined, ['Required value: why']];
    const empty: Row = ['a', '', ['Required value: why']];
    assert.deepEqual(learnt({ a: A }, { a: 'x' }, [absent, empty])['a']?.absent, ['Required value: why']);
    const other: Row = ['a', '', ['Required value: other']];
    assert.equal(learnt({ a: A }, { a: 'x' }, [absent, other])['a']?.absent, undefined);
    const accepted: Row = ['a', '', { n: 1 }];
    assert.equal(learnt({ a: A, n: N }, { a: 'x', n: 1 }, [absent, accepted])['a']?.absent, undefined);
  });

  it('have the value that the server assigns to every absent member', () => {
    const rows: Row[] = [
      ['a', undefined, { a: 'd' }],
      ['a', '', { a: 'd' }],
      ['a', 'y', { a: 'y' }],
    ];
    assert.deepEqual(learnt({ a: A }, { a: 'x' }, rows)['a']?.assigned, { value: 'd' });
    const other: Row = ['a', '', { a: 'e' }];
    assert.equal(learnt({ a: A }, { a: 'x' }, [...rows, other])['a']?.assigned, undefined);
  });

  it('have the value of structs at the top alone, if structs in templates get none', () => {
    const inner: ShapeNode = { $ref: 'Spec', go: '*Spec' };
    const rows: Row[] = [['a', undefined, { a: 'd', inner: {} }]];
    const { a } = learnt({ a: A, inner }, { a: 'x', inner: {} }, rows);
    assert.deepEqual(a?.assigned, { value: 'd', top: true });
  });

  it('have no value that the server allocates', () => {
    const rows: Row[] = [['clusterIP', undefined, { clusterIP: '10.0.0.1' }]];
    assert.equal(learnt({ clusterIP: A }, { clusterIP: 'x' }, rows)['clusterIP']?.assigned, undefined);
  });

  it('have the value that the text of a sibling chooses', () => {
    const b: ShapeNode = { ...A, refused: [NAMES] };
    const rows: Row[] = [
      ['a', undefined, { a: 'd', b: 'one' }],
      ['b', 'two', { b: 'two', a: 'x' }],
    ];
    const bare: Row[] = [['b', 'two', { b: 'two' }]];
    const shapes = shapesWith({ a: { ...A }, b });
    learnRules(shapes, [
      ...rows.map((row) => answerOf(shapes, { a: 'x', b: 'one' }, ...row)),
      ...bare.map((row) => answerOf(shapes, { b: 'one' }, ...row)),
    ]);
    assert.deepEqual(shapes.Spec.properties?.['a']?.assigned, { value: 'd', sibling: 'b', texts: ['one'] });
  });

  it('have the member by which the items of a list differ', () => {
    const list: ShapeNode = { type: 'array', go: '[]Item', items: { properties: { k: A, v: A } } };
    const item = { v: 'y', k: 'x' };
    const shapes = shapesWith({ list });
    const answer = answerOf(shapes, { list: [item] }, 'list', [item, item], []);
    const causes = [{ field: 'spec.list[1].k', message: 'Duplicate value: "x"' }];
    learnRules(shapes, [{ ...answer, causes }]);
    assert.equal(shapes.Spec.properties?.['list']?.unique, 'k');
  });
});

/** Creations of whole specs, each about one member, and the rules of the member `a`. */
function ruleOfA(
  members: { [name: string]: ShapeNode },
  rows: readonly (readonly [whole: JsonObject, row: Row])[],
): ShapeNode | undefined {
  const shapes = shapesWith(structuredClone(members));
  learnRules(
    shapes,
    rows.map(([whole, row]) => answerOf(shapes, whole, ...row)),
  );
  return shapes.Spec.properties?.['a'];
}

describe('no rule is learnt', () => {
  const b: ShapeNode = { ...A, refused: [NAMES] };
  const left: Row = ['a', undefined, { a: 'd', b: 'one' }];
  const whole = { a: 'x', b: 'one' };

  it('about an absence that an answer about another member shows to be valid', () => {
    const refused = [{ a: 'x' }, ['a', undefined, ['Required value']]] as const;
    assert.deepEqual(ruleOfA({ a: A, n: N }, [refused])?.absent, ['Required value']);
    const accepted = [{ n: 1 }, ['n', 2, { n: 2 }]] as const;
    assert.equal(ruleOfA({ a: A, n: N }, [refused, accepted])?.absent, undefined);
  });

  it('about a status, or a value with a null', () => {
    const status: Row[] = [['status', undefined, { status: 'd' }]];
    assert.equal(learnt({ status: A }, { status: 'x' }, status)['status']?.assigned, undefined);
    const open: Row[] = [['a', undefined, { a: { time: null } }]];
    assert.equal(learnt({ a: A }, { a: 'x' }, open)['a']?.assigned, undefined);
  });

  it('about a sibling of any text, a sibling that the server sets, and an absent sibling', () => {
    const bare = [{ b: 'one' }, ['b', 'two', { b: 'two' }]] as const;
    assert.deepEqual(ruleOfA({ a: A, b }, [[whole, left], bare])?.assigned?.texts, ['one']);
    assert.equal(ruleOfA({ a: A, b: A }, [[whole, left], bare])?.assigned, undefined);
    const set = [{ b: 'one' }, ['b', undefined, { b: 'two' }]] as const;
    const other = [{ b: 'one' }, ['b', undefined, { a: 'd', b: 'one' }]] as const;
    assert.equal(ruleOfA({ a: A, b }, [set, other])?.assigned, undefined);
    const absent = [{ b: 'one' }, ['b', undefined, { a: 'd' }]] as const;
    assert.equal(ruleOfA({ a: A, b }, [absent, bare])?.assigned, undefined);
  });

  it('about a text of a sibling that chooses a value and no value', () => {
    const bare = [{ b: 'one' }, ['b', 'one', { b: 'one' }]] as const;
    assert.equal(ruleOfA({ a: A, b }, [[whole, left], bare])?.assigned, undefined);
  });

  it('from a body that the server did not decode', () => {
    const shapes = shapesWith({ n: { ...N } });
    const bad = answerOf(shapes, { n: 1 }, 'n', -1, [`Invalid value: -1: ${LIMIT}`]);
    learnRules(shapes, [bad, { ...bad, value: -2, status: 400, causes: [] }]);
    assert.deepEqual(shapes.Spec.properties?.['n']?.refused, [LIMIT]);
  });
});

describe('frozen fields', () => {
  const previous = { spec: { a: 'x', b: 'y' } };
  const place: Place = { path: ['spec', 'a'], field: 'spec.a', node: A, value: 'x' };
  const updated = (value: string, status: number, message: string): Answer => {
    const sent = withValue(previous, place.path, value);
    return { place, value, sent, status, causes: [{ field: 'spec', message }], stored: sent };
  };

  it('have the first line of the refusal', () => {
    const refused = updated('z', 422, 'Forbidden: may not change\n- a\n+ b');
    assert.deepEqual(learnFrozen([{ previous, answers: [refused] }]), [
      { field: 'spec', words: 'Forbidden: may not change' },
    ]);
  });

  it('are none if the server accepts a change', () => {
    const answers = [updated('z', 422, 'Forbidden: may not change'), updated('w', 200, '')];
    assert.deepEqual(learnFrozen([{ previous, answers }]), []);
  });

  it('have no indexes', () => {
    const refused = updated('z', 422, 'field is immutable');
    const item = { ...refused, place: { ...place, field: 'spec.list[0].a' } };
    const causes = [{ field: 'spec.list[0]', message: 'Invalid value: "z": field is immutable' }];
    assert.equal(learnFrozen([{ previous, answers: [{ ...item, causes }] }])[0]?.field, 'spec.list');
  });

  it('contain the place of the change', () => {
    const refused = updated('z', 422, 'Forbidden: may not change');
    const elsewhere = { ...refused, place: { ...place, field: 'metadata.name' } };
    assert.deepEqual(learnFrozen([{ previous, answers: [elsewhere] }]), []);
  });
});

const PLACES = shapesWith({
  list: { items: { properties: { k: A } } },
  map: { additionalProperties: N },
});
const OBJECT = { kind: 'T', spec: { list: [{ k: 'x' }], map: { e: 1 } }, metadata: { name: 'n' } };

describe('places', () => {
  it('are the members, items and entries that the shape describes, but not the metadata', () => {
    assert.deepEqual(
      placesIn(PLACES, OBJECT, ROOT).map(({ field, path }) => [field, path.join('/')]),
      [
        ['spec', 'spec'],
        ['spec.list', 'spec/list'],
        ['spec.list[0]', 'spec/list/0'],
        ['spec.list[0].k', 'spec/list/0/k'],
        ['spec.map', 'spec/map'],
        ['spec.map[e]', 'spec/map/e'],
      ],
    );
  });

  it('are left out or have other values without a change of the object', () => {
    const before = structuredClone(OBJECT);
    const spec = (path: (string | number)[], value: Json | undefined): Json =>
      withValue(OBJECT.spec, path, value);
    assert.deepEqual(spec(['list', 0], undefined), { list: [], map: { e: 1 } });
    assert.deepEqual(spec(['list', 0, 'k'], 'y'), { list: [{ k: 'y' }], map: { e: 1 } });
    assert.deepEqual(spec(['map', 'e'], undefined), { list: [{ k: 'x' }], map: {} });
    assert.deepEqual(OBJECT, before);
  });

  const at = (node: ShapeNode, value: Json): Place => ({ path: [], field: '', node, value });

  it('have wrong values by the type', () => {
    const found = [
      at(A, 'x'),
      at({ $ref: 'api.resource.Quantity' }, '1'),
      at(N, 1),
      at({ items: A }, ['x', 'y']),
      at({ properties: {} }, { a: 1 }),
      at({ additionalProperties: N }, { e: 1 }),
      at({}, true),
    ].map((place) => valuesFor(PLACES, place));
    assert.deepEqual(found, [
      [undefined, 'Not Valid!', ''],
      [undefined, 'Not Valid!', '', '-1'],
      [undefined, -1, 0, 70000],
      [undefined, [], ['x', 'y', 'y']],
      [undefined, {}],
      [undefined, { e: 1, 'Not Valid!': 1 }],
      [undefined],
    ]);
  });

  it('have other valid values by the type', () => {
    const found = [at(A, 'x'), at({ enum: ['x', 'y'] }, 'x'), at(N, 1), at({}, true), at({}, [])].map(
      (place) => othersFor(PLACES, place),
    );
    assert.deepEqual(found, [
      [undefined, 'xx'],
      [undefined, 'y'],
      [undefined, 2],
      [undefined, false],
      [undefined],
    ]);
  });
});

describe('a difference', () => {
  const place: Place = { path: ['spec', 'a'], field: 'spec.a', node: A, value: 'x' };
  const answer = (status: number, stored: Json): Answer => ({
    place,
    value: 'y',
    sent: null,
    status,
    causes: [],
    stored,
  });
  const found = (real: Answer, embedded: Answer, verb = 'create'): string[] =>
    differences(verb, 'T', real, embedded);

  it('is another status, or a path at which stored objects differ', () => {
    assert.deepEqual(found(answer(422, {}), answer(201, {})), ['create T spec.a: "y": 422, not 201']);
    const [one, other] = [{ spec: { a: [{ b: 1 }], c: 1 } }, { spec: { a: [{ b: 2 }] } }];
    assert.deepEqual(found(answer(201, one), answer(201, other)), ['stored T: spec.a.b', 'stored T: spec.c']);
  });

  it('is no null beside an absent member, and no value that each creation has anew', () => {
    const [one, other] = [{ a: null, metadata: { uid: '1' } }, { metadata: { uid: '2' } }];
    assert.deepEqual(found(answer(201, one), answer(201, other)), []);
  });

  it('is in no answer of a server that panics or has changed the object, and in no stored update', () => {
    assert.deepEqual(found(answer(0, {}), answer(201, {})), []);
    assert.deepEqual(found(answer(409, {}), answer(201, {})), []);
    assert.deepEqual(found(answer(201, { a: 1 }), answer(201, {}), 'update'), []);
  });
});
