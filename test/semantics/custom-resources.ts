/** CustomResourceDefinitions: discovery, schemas, versions and subresources of what they define, and their deletion. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { brief } from './client.ts';
import type { Answer, Body } from './client.ts';
import { Fixture, ok } from './fixture.ts';
import type { Target } from './target.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Pause between two looks at a real server, whose controllers accept definitions in the background. */
const LOOK_INTERVAL_MS = 50;

const text = { type: 'string' };
const SPEC = {
  type: 'object',
  required: ['replicas'],
  properties: {
    replicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
    size: { type: 'string', enum: ['small', 'large'], default: 'small' },
    name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
    note: { type: 'string', nullable: true },
    plain: text,
    since: { type: 'string', format: 'date-time' },
    port: { 'x-kubernetes-int-or-string': true },
    labels: { type: 'object', additionalProperties: text, maxProperties: 2 },
    parts: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        type: 'object',
        required: ['id'],
        properties: { id: text, weight: { type: 'integer', default: 1 } },
      },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object' } },
    },
    one: {
      type: 'object',
      properties: { a: text, b: text },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  },
};

const STATUS = {
  type: 'object',
  properties: { replicas: { type: 'integer' }, selector: text },
};

function version(name: string, more: object = {}): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: STATUS } } };
  return { name, served: true, storage: false, schema, ...more };
}

const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

/** Definitions in a group of their own. */
class Definitions {
  readonly group = `sem-${randomBytes(4).toString('hex')}.example.com`;
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
  }

  definition(plural: string, kind: string, versions: readonly object[]): object {
    const names = { plural, kind, shortNames: [`${plural[0]}x`] };
    const metadata = { name: `${plural}.${this.group}` };
    return { metadata, spec: { group: this.group, scope: 'Namespaced', names, versions } };
  }

  path(plural: string): string {
    return `${DEFINITIONS}/${plural}.${this.group}`;
  }

  /** Creates a definition, and waits until its resource is served. */
  async establish(plural: string, kind: string, versions: readonly object[]): Promise<void> {
    const { client } = this.#fixture;
    ok(await client.post(DEFINITIONS, this.definition(plural, kind, versions)));
    for (;;) {
      const { status } = ok(await client.get(this.path(plural)));
      if (isTrue(status, 'Established')) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
    }
  }

  /** Waits for an answer, for as long as the server has not noticed a definition. */
  async until(path: string, isIt: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await this.#fixture.client.get(path);
      if (isIt(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
    }
  }

  objects(plural: string, name = '', versionName = 'v1'): string {
    const path = `/apis/${this.group}/${versionName}/namespaces/${this.#fixture.namespace}/${plural}`;
    return name === '' ? path : `${path}/${name}`;
  }

  async removeAll(...plurals: readonly string[]): Promise<void> {
    for (const plural of plurals) await this.#fixture.client.delete(this.path(plural));
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

function isTrue(status: unknown, type: string): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Returns the causes of a 422 as text, sorted: a real server's order varies. */
function causes(answer: Answer): string[] {
  assert.equal(answer.status, 422, answer.text);
  const { causes: list = [] } = (answer.body.details ?? {}) as { readonly causes?: readonly Cause[] };
  return list.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).sort();
}

export function customResourceSemantics(target: () => Promise<Target>): void {
  definitionSemantics(target);
  schemaSemantics(target);
  subresourceSemantics(target);
  versionSemantics(target);
}

function definitionSemantics(target: () => Promise<Target>): void {
  describe('a CustomResourceDefinition', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    before(() => definitions.establish('widgets', 'Widget', [version('v1', { storage: true })]));
    after(() => definitions.removeAll('widgets'));

    it('is accepted: names, conditions and stored versions are in its status', async () => {
      const { spec, status } = ok(await fixture.client.get(definitions.path('widgets')));
      const names = {
        plural: 'widgets',
        kind: 'Widget',
        singular: 'widget',
        listKind: 'WidgetList',
        shortNames: ['wx'],
      };
      assert.deepEqual(spec?.['names'], names);
      assert.deepEqual(spec?.['conversion'], { strategy: 'None' });
      const { acceptedNames, storedVersions } = status as Record<string, unknown>;
      assert.deepEqual(acceptedNames, names);
      assert.deepEqual(storedVersions, ['v1']);
      assert.ok(isTrue(status, 'NamesAccepted'));
    });

    it('makes its resource discovered, with its names', async () => {
      const { body } = await definitions.until(
        `/apis/${definitions.group}/v1`,
        ({ status }) => status === 200,
      );
      const { resources = [] } = body as { resources?: readonly Record<string, unknown>[] };
      const [widgets] = resources;
      assert.equal(widgets?.['name'], 'widgets');
      assert.equal(widgets?.['singularName'], 'widget');
      assert.equal(widgets?.['kind'], 'Widget');
      assert.deepEqual(widgets?.['shortNames'], ['wx']);
    });

    it('without a schema, with another name, or without a storage version is 422', async () => {
      const bad = definitions.definition('gadgets', 'Gadget', [{ name: 'v1', served: true, storage: false }]);
      const answer = await fixture.client.post(DEFINITIONS, { ...bad, metadata: { name: 'wrong' } });
      const found = causes(answer).join('\n');
      assert.match(
        found,
        /metadata\.name: Invalid value: "wrong": must be spec\.names\.plural\+"\."\+spec\.group/,
      );
      assert.match(
        found,
        /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value: schemas are required/,
      );
      assert.match(
        found,
        /spec\.versions: Invalid value: .*: must have exactly one version marked as storage version/,
      );
    });

    it('keeps its scope', async () => {
      const path = definitions.path('widgets');
      const answer = await fixture.client.mergePatch(path, { spec: { scope: 'Cluster' } });
      assert.deepEqual(causes(answer), [
        'FieldValueInvalid spec.scope: Invalid value: "Cluster": field is immutable',
      ]);
    });

    it('that is deleted takes its objects with it, ends their watches, and is no longer served', async () => {
      const once = new Definitions(fixture);
      await once.establish('gizmos', 'Gizmo', [version('v1', { storage: true })]);
      const metadata = { name: 'a' };
      const created = ok(
        await fixture.client.post(once.objects('gizmos'), { metadata, spec: { replicas: 1 } }),
      );
      const from = created.metadata.resourceVersion;
      const stream = await fixture.watch(`${once.objects('gizmos')}?watch=1&resourceVersion=${from}`);
      const marked = ok(await fixture.client.delete(once.path('gizmos')));
      assert.notEqual(marked.metadata.deletionTimestamp, undefined);
      assert.deepEqual(marked.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
      assert.equal(brief(await stream.next()), 'DELETED a');
      await stream.ended;
      await once.until(once.path('gizmos'), ({ status }) => status === 404);
      await once.until(once.objects('gizmos'), ({ status }) => status === 404);
    });
  });
}

function schemaSemantics(target: () => Promise<Target>): void {
  describe('the schema of a custom resource', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    let number = 0;
    const create = (spec: object, query = ''): Promise<Answer> => {
      const metadata = { name: `w-${number++}` };
      return fixture.client.post(`${definitions.objects('widgets')}${query}`, { metadata, spec });
    };
    before(() => definitions.establish('widgets', 'Widget', [version('v1', { storage: true })]));
    after(() => definitions.removeAll('widgets'));

    it('fills defaults, removes unknown fields and nulls, and warns', async () => {
      const given = {
        replicas: 1,
        unknown: { a: 1 },
        plain: null,
        note: null,
        parts: [{ id: 'x', more: 1 }],
      };
      const answer = await create(given);
      const parts = [{ id: 'x', weight: 1 }];
      assert.deepEqual(ok(answer).spec, { replicas: 1, size: 'small', note: null, parts });
      const warning = String(answer.headers['warning']);
      assert.match(warning, /299 - "unknown field \\"spec\.unknown\\""/);
      assert.match(warning, /299 - "unknown field \\"spec\.parts\[0\]\.more\\""/);
    });

    it('keeps unknown fields where it says so, and the metadata of embedded objects', async () => {
      const free = { a: { b: [1] } };
      const template = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'x', labels: { a: 'b' } },
        other: 1,
      };
      const { spec } = ok(await create({ replicas: 1, free, template }));
      assert.deepEqual(spec?.['free'], free);
      const { other: _, ...kept } = template;
      assert.deepEqual(spec?.['template'], kept);
    });

    it('refuses unknown fields when the request asks for it', async () => {
      const { status, body } = await create({ replicas: 1, unknown: 1 }, '?fieldValidation=Strict');
      assert.equal(status, 400);
      assert.match(body.message ?? '', /strict decoding error: unknown field "spec\.unknown"$/);
    });

    for (const [what, spec, expected] of REFUSED) {
      it(`refuses ${what}, with the field and the reason`, async () => {
        const answer = await create(spec);
        assert.deepEqual(causes(answer), expected);
      });
    }

    it('is the law for updates and patches, too', async () => {
      const { metadata } = ok(await create({ replicas: 1 }));
      const path = definitions.objects('widgets', metadata.name);
      const patched = await fixture.client.mergePatch(path, { spec: { replicas: 11 } });
      const why = 'spec.replicas in body should be less than or equal to 10';
      assert.deepEqual(causes(patched), [`FieldValueInvalid spec.replicas: Invalid value: 11: ${why}`]);
      const put = await fixture.client.put(path, { metadata, spec: {} });
      assert.deepEqual(causes(put), ['FieldValueRequired spec.replicas: Required value']);
      assert.match(
        String(put.body.message),
        /^Widget\.sem-\w+\.example\.com "w-\d+" is invalid: spec\.replicas: Required value$/,
      );
    });
  });
}

const REFUSED: readonly (readonly [string, object, readonly string[]])[] = [
  ['a missing field', {}, ['FieldValueRequired spec.replicas: Required value']],
  [
    'a value of another type',
    { replicas: 'one' },
    [
      'FieldValueTypeInvalid spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
  ],
  [
    'a number that is too small',
    { replicas: 0 },
    [
      'FieldValueInvalid spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1',
    ],
  ],
  [
    'a value that is not in the enumeration',
    { replicas: 1, size: 'huge' },
    ['FieldValueNotSupported spec.size: Unsupported value: "huge": supported values: "small", "large"'],
  ],
  [
    'text that does not match',
    { replicas: 1, name: 'ABC' },
    [`FieldValueInvalid spec.name: Invalid value: "ABC": spec.name in body should match '^[a-z]+$'`],
  ],
  [
    'text that is too short',
    { replicas: 1, name: 'a' },
    ['FieldValueInvalid spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
  ],
  [
    'text that is too long',
    { replicas: 1, name: 'abcdef' },
    ['FieldValueTooLong spec.name: Too long: may not be more than 5 bytes'],
  ],
  [
    'a time that is none',
    { replicas: 1, since: 'today' },
    [
      'FieldValueTypeInvalid spec.since: Invalid value: "today": spec.since in body must be of type date-time: "today"',
    ],
  ],
  [
    'too many items',
    { replicas: 1, parts: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
    ['FieldValueTooMany spec.parts: Too many: 3: must have at most 2 items'],
  ],
  [
    'too few items',
    { replicas: 1, parts: [] },
    ['FieldValueInvalid spec.parts: Invalid value: 0: spec.parts in body should have at least 1 items'],
  ],
  [
    'a missing field of an item',
    { replicas: 1, parts: [{ id: 'a' }, {}] },
    ['FieldValueRequired spec.parts[1].id: Required value'],
  ],
  [
    'a value of a map that has another type',
    { replicas: 1, labels: { a: 1 } },
    [
      'FieldValueTypeInvalid spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
  ],
  [
    'a map with too many entries',
    { replicas: 1, labels: { a: '1', b: '2', c: '3' } },
    ['FieldValueTooMany spec.labels: Too many: 3: must have at most 2 items'],
  ],
  [
    'an object that fits two of the alternatives',
    { replicas: 1, one: { a: 'a', b: 'b' } },
    [
      'FieldValueInvalid spec.one: Invalid value: "object": spec.one in body must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
];

function subresourceSemantics(target: () => Promise<Target>): void {
  describe('the subresources of a custom resource', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const spec = { replicas: 1 };
    const object = (name: string): object => ({ metadata: { name }, spec, status: { replicas: 7 } });
    before(async () => {
      const subresources = { status: {}, scale: SCALE };
      await definitions.establish('widgets', 'Widget', [version('v1', { storage: true, subresources })]);
      await definitions.establish('gadgets', 'Gadget', [version('v1', { storage: true })]);
    });
    after(() => definitions.removeAll('widgets', 'gadgets'));

    it('status is written only through /status, and only then', async () => {
      const created = ok(await fixture.client.post(definitions.objects('widgets'), object('a')));
      assert.equal(created.status, undefined);
      const path = definitions.objects('widgets', 'a');
      const patch = { status: { replicas: 3 }, spec: { replicas: 4 } };
      const written = ok(await fixture.client.mergePatch(`${path}/status`, patch));
      assert.deepEqual(written.status, { replicas: 3 });
      assert.equal(written.spec?.['replicas'], 1);
      assert.equal(written.metadata.generation, 1);
      const main = ok(await fixture.client.mergePatch(path, patch));
      assert.equal(main.spec?.['replicas'], 4);
      assert.equal(main.metadata.generation, 2);
      const invalid = await fixture.client.mergePatch(`${path}/status`, { status: { replicas: 'x' } });
      assert.equal(invalid.status, 422);
    });

    it('without them, status is a field like others, and the generation counts its changes', async () => {
      const created = ok(await fixture.client.post(definitions.objects('gadgets'), object('a')));
      assert.deepEqual(created.status, { replicas: 7 });
      assert.equal(created.metadata.generation, 1);
      const path = definitions.objects('gadgets', 'a');
      const labelled = ok(await fixture.client.mergePatch(path, { metadata: { labels: { a: 'b' } } }));
      assert.equal(labelled.metadata.generation, 1);
      const changed = ok(await fixture.client.mergePatch(path, { status: { replicas: 8 } }));
      assert.equal(changed.metadata.generation, 2);
      assert.equal((await fixture.client.get(`${path}/status`)).status, 404);
      assert.equal((await fixture.client.get(`${path}/scale`)).status, 404);
    });

    it('scale shows the replicas and writes them', async () => {
      ok(await fixture.client.post(definitions.objects('widgets'), object('scaled')));
      const path = definitions.objects('widgets', 'scaled');
      const status = { replicas: 5, selector: 'app=x' };
      ok(await fixture.client.mergePatch(`${path}/status`, { status }));
      const scale = ok(await fixture.client.get(`${path}/scale`));
      assert.equal(scale.kind, 'Scale');
      assert.equal(scale.apiVersion, 'autoscaling/v1');
      assert.equal(scale.metadata.name, 'scaled');
      assert.deepEqual(scale.spec, { replicas: 1 });
      assert.deepEqual(scale.status, status);
      const { metadata } = scale;
      const put = ok(await fixture.client.put(`${path}/scale`, { metadata, spec: { replicas: 2 } }));
      assert.deepEqual(put.spec, { replicas: 2 });
      const patched = ok(await fixture.client.mergePatch(`${path}/scale`, { spec: { replicas: 3 } }));
      assert.deepEqual(patched.spec, { replicas: 3 });
      const stored = ok(await fixture.client.get(path));
      assert.equal(stored.spec?.['replicas'], 3);
      assert.equal(stored.metadata.generation, 3);
      const stale = await fixture.client.put(`${path}/scale`, { metadata, spec: { replicas: 4 } });
      assert.equal(stale.status, 409);
      assert.equal(
        (await fixture.client.mergePatch(`${path}/scale`, { spec: { replicas: 99 } })).status,
        422,
      );
    });

    it('are discovered', async () => {
      const { body } = await fixture.client.get(`/apis/${definitions.group}/v1`);
      const { resources = [] } = body as { resources?: readonly Record<string, unknown>[] };
      const names = resources.map(({ name }) => String(name)).sort();
      assert.deepEqual(names, ['gadgets', 'widgets', 'widgets/scale', 'widgets/status']);
      const scale = resources.find(({ name }) => name === 'widgets/scale');
      assert.deepEqual(
        [scale?.['group'], scale?.['version'], scale?.['kind']],
        ['autoscaling', 'v1', 'Scale'],
      );
    });
  });
}

function versionSemantics(target: () => Promise<Target>): void {
  describe('a custom resource in several versions', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const extra = { properties: { spec: { ...SPEC, properties: { ...SPEC.properties, extra: text } } } };
    const wider = { openAPIV3Schema: { type: 'object', ...extra } };
    before(() =>
      definitions.establish('widgets', 'Widget', [
        version('v1beta1', { storage: true }),
        version('v1', { schema: wider }),
        version('v1alpha1', { served: false }),
      ]),
    );
    after(() => definitions.removeAll('widgets'));
    const seen = ({ apiVersion, spec }: Body): unknown => [apiVersion?.split('/')[1], spec];

    it('has the apiVersion of the request, and the fields of the version that is stored', async () => {
      const body = { metadata: { name: 'a' }, spec: { replicas: 1, extra: 'lost' } };
      ok(await fixture.client.post(definitions.objects('widgets'), body));
      const kept = { replicas: 1, size: 'small' };
      const read = async (name: string): Promise<Body> =>
        ok(await fixture.client.get(definitions.objects('widgets', 'a', name)));
      assert.deepEqual(seen(await read('v1beta1')), ['v1beta1', kept]);
      assert.deepEqual(seen(await read('v1')), ['v1', kept]);
      const { metadata } = await read('v1');
      assert.equal(metadata.resourceVersion, (await read('v1beta1')).metadata.resourceVersion);
      const list = ok(await fixture.client.get(definitions.objects('widgets')));
      assert.deepEqual(list.items.map(seen), [['v1', kept]]);
      assert.equal((await fixture.client.get(definitions.objects('widgets', 'a', 'v1alpha1'))).status, 404);
    });

    it('is watched in each version, whatever version is written', async () => {
      const start = ok(await fixture.client.get(definitions.objects('widgets')));
      const query = `?watch=1&resourceVersion=${start.metadata.resourceVersion}`;
      const streams = [];
      for (const name of ['v1', 'v1beta1']) {
        streams.push(await fixture.watch(`${definitions.objects('widgets', '', name)}${query}`));
      }
      const path = definitions.objects('widgets', '', 'v1beta1');
      ok(await fixture.client.post(path, { metadata: { name: 'b' }, spec: { replicas: 2 } }));
      ok(await fixture.client.delete(definitions.objects('widgets', 'b', 'v1')));
      const events = await Promise.all(streams.map((stream) => stream.take(2)));
      assert.deepEqual(
        events.map((pair) =>
          pair.map((event) => `${event.object.apiVersion?.split('/')[1]} ${brief(event)}`),
        ),
        [
          ['v1 ADDED b', 'v1 DELETED b'],
          ['v1beta1 ADDED b', 'v1beta1 DELETED b'],
        ],
      );
    });

    it('is discovered with the stable version as the preferred one', async () => {
      const { body } = await fixture.client.get(`/apis/${definitions.group}`);
      const { versions, preferredVersion } = body as unknown as {
        versions: readonly { version: string }[];
        preferredVersion: { version: string };
      };
      assert.deepEqual(
        versions.map((entry) => entry.version),
        ['v1', 'v1beta1'],
      );
      assert.equal(preferredVersion.version, 'v1');
    });

    it('refuses an object of another version than that of the URL', async () => {
      const apiVersion = `${definitions.group}/v1beta1`;
      const body = { apiVersion, kind: 'Widget', metadata: { name: 'c' }, spec: { replicas: 1 } };
      const answer = await fixture.client.post(definitions.objects('widgets'), body);
      assert.equal(answer.status, 400);
    });
  });
}
