/** Server-side apply of custom resources and of built-in kinds: lists, maps and subresources. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Applier, causesOf, ownersOf } from './applier.ts';
import type { Answer } from './client.ts';
import { Definitions } from './definitions.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

const TEXT = { type: 'string' };
const ITEM = { type: 'object', required: ['name'], properties: { name: TEXT, value: TEXT } };
const IDLE = { type: 'object', properties: { after: { type: 'string', default: '30s' } } };
const SPEC = {
  type: 'object',
  properties: {
    idle: IDLE,
    idleByKey: { type: 'object', additionalProperties: IDLE },
    idleByName: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: TEXT, idle: IDLE } },
    },
    replicas: { type: 'integer' },
    maybe: { type: 'string', nullable: true },
    group: { type: 'object', properties: { a: TEXT } },
    byName: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: ITEM,
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
    plain: { type: 'array', items: TEXT },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: TEXT },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

export function customOwnershipSemantics(target: () => Promise<Target>): void {
  describe('server-side apply of a custom resource', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const applier = new Applier(fixture);
    const properties = { spec: SPEC, status: { type: 'object', properties: { phase: TEXT } } };
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    before(() =>
      definitions.establish('gadgets', 'Gadget', [
        { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } },
      ]),
    );
    after(() => definitions.removeAll('gadgets'));
    const apply = (name: string, manager: string, parts: object, sub = ''): Promise<Answer> => {
      const body = definitions.object('Gadget', { metadata: { name }, ...parts });
      return applier.raw(`${definitions.objects('gadgets', name)}${sub}?fieldManager=${manager}`, body);
    };

    it('merges lists with keys and sets by the schema, and replaces atomic lists and maps', async () => {
      const spec = {
        byName: [{ name: 'x', value: '1' }, { name: 'y' }],
        tags: ['a', 'b'],
        plain: ['1'],
        whole: { k: '1' },
      };
      ok(await apply('lists', 'one', { spec: { ...spec, free: { a: { b: 1 } } } }));
      const more = { byName: [{ name: 'z' }, { name: 'x' }], tags: ['c', 'a'], free: { a: { c: 1 } } };
      const both = ok(await apply('lists', 'two', { spec: more }));
      assert.deepEqual(both.spec, {
        byName: [{ name: 'z' }, { name: 'x', value: '1' }, { name: 'y' }],
        tags: ['c', 'a', 'b'],
        plain: ['1'],
        whole: { k: '1' },
        free: { a: { b: 1, c: 1 } },
      });
      assert.deepEqual(ownersOf(both)['Apply two'], {
        'f:spec': {
          'f:byName': {
            'k:{"name":"x"}': { '.': {}, 'f:name': {} },
            'k:{"name":"z"}': { '.': {}, 'f:name': {} },
          },
          'f:free': { 'f:a': { '.': {}, 'f:c': {} } },
          'f:tags': { 'v:"a"': {}, 'v:"c"': {} },
        },
      });
      const conflict = await apply('lists', 'two', {
        spec: { plain: ['2'], whole: { l: '1' }, byName: [{ name: 'x', value: '2' }] },
      });
      const fields = causesOf(conflict).map((cause) => (cause as { readonly field: string }).field);
      assert.deepEqual(fields.toSorted(), ['.spec.byName[name="x"].value', '.spec.plain', '.spec.whole']);
      const rest = ok(await apply('lists', 'one', { spec: { replicas: 1 } }));
      assert.deepEqual(rest.spec, {
        byName: [{ name: 'z' }, { name: 'x' }],
        tags: ['c', 'a'],
        free: { a: { c: 1 } },
        replicas: 1,
      });
    });

    it('of an empty object keeps the defaults below it, and the same apply changes nothing', async () => {
      const seen: (string | undefined)[] = [];
      for (const _ of [1, 2, 3]) {
        const { spec, metadata } = ok(
          await apply('idle', 'one', {
            spec: { idle: {}, idleByKey: { k: {} }, idleByName: [{ name: 'a', idle: {} }] },
          }),
        );
        const idle = { after: '30s' };
        assert.deepEqual(spec, { idle, idleByKey: { k: idle }, idleByName: [{ name: 'a', idle }] });
        seen.push(metadata.resourceVersion);
      }
      assert.equal(new Set(seen).size, 1);
    });

    it('keeps a null that the schema allows, and refuses other nulls, also of an object that becomes empty', async () => {
      const why = (field: string, type: string): RegExp =>
        new RegExp(`spec\\.${field} in body must be of type ${type}: "null"`);
      for (const _ of [1, 2]) {
        const kept = ok(await apply('nulls', 'one', { spec: { maybe: null, idle: { after: null } } }));
        assert.deepEqual(kept.spec, { maybe: null, idle: { after: '30s' } });
      }
      refused(await apply('nulls', 'one', { spec: { replicas: null } }), 422, why('replicas', 'integer'));
      ok(await apply('emptied', 'one', { spec: { group: { a: '1' } } }));
      const empty = await apply('emptied', 'one', { spec: { group: {} } });
      refused(empty, 422, why('group', 'object'));
    });

    it('owns the status through its subresource only', async () => {
      ok(await apply('status', 'one', { spec: { replicas: 1 }, status: { phase: 'ignored' } }));
      const phased = ok(
        await apply('status', 'two', { spec: { replicas: 9 }, status: { phase: 'Ready' } }, '/status'),
      );
      assert.deepEqual([phased.spec, phased.status], [{ replicas: 1 }, { phase: 'Ready' }]);
      assert.deepEqual(ownersOf(phased), {
        'Apply one': { 'f:spec': { 'f:replicas': {} } },
        'Apply two status': { 'f:status': { 'f:phase': {} } },
      });
      const conflict = await apply('status', 'three', { status: { phase: 'Other' } }, '/status');
      assert.match(
        conflict.body.message ?? '',
        /^Apply failed with 1 conflict: conflict with "two" with subresource "status": \.status\.phase$/,
      );
      assert.equal((await apply('absent', 'one', { status: {} }, '/status')).status, 404);
    });

    it('refuses fields that the schema does not name, and values of another type', async () => {
      for (const [spec, why] of [
        [{ bogus: 1 }, '.spec.bogus: field not declared in schema'],
        [{ replicas: 'x' }, '.spec.replicas: expected numeric (int or float), got string'],
        [{ byName: [{ name: 'x' }, { name: 'x' }] }, '.spec.byName: duplicate entries for key [name="x"]'],
      ] as const) {
        const { status, body } = await apply('refused', 'one', { spec });
        assert.equal(status, 500);
        assert.ok(body.message?.endsWith(why), body.message);
      }
    });
  });
  builtInOwnershipSemantics(target);
}

function builtInOwnershipSemantics(target: () => Promise<Target>): void {
  describe('server-side apply of a Deployment', () => {
    const fixture = Fixture.use(target, 'together');
    const applier = new Applier(fixture);
    const path = (): string => `/apis/apps/v1/namespaces/${fixture.namespace}/deployments/web`;
    const apply = (manager: string, spec: object, query = ''): Promise<Answer> => {
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
      return applier.raw(`${path()}?fieldManager=${manager}${query}`, body);
    };
    const pods = (containers: readonly object[], more: object = {}): object => ({
      template: { metadata: { labels: { a: 'b' } }, spec: { containers, ...more } },
    });
    const selector = { matchLabels: { a: 'b' } };

    it('refuses values that do not fit the type', async () => {
      const typed = `failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec`;
      const kind = 'apps/v1, Kind=Deployment';
      const converted = `failed to convert new object (/web; ${kind}) to proper version: unable to convert unstructured object to ${kind}`;
      const probe = (port: unknown): object => ({ name: 'c', livenessProbe: { httpGet: { port } } });
      const expected = 'expected string, got &value.valueUnstructured{Value:';
      for (const [spec, why] of [
        [{ replicas: true }, `${typed}.replicas: expected numeric (int or float), got bool`],
        [{ paused: 'x' }, `${typed}.paused: expected boolean, got &{x}`],
        [{ selector: [] }, `${typed}.selector: expected map, got &{[]}`],
        [{ selector: { matchLabels: { a: 1 } } }, `${typed}.selector.matchLabels.a: ${expected}1}`],
        [
          { selector: { matchLabels: { a: { b: ['c'] } } } },
          `${typed}.selector.matchLabels.a: ${expected}map[string]interface {}{"b":[]interface {}{"c"}}}`,
        ],
        [
          { template: { spec: { containers: [5] } } },
          `${typed}.template.spec.containers: element 0: associative list with keys may not have non-map elements`,
        ],
        [
          { template: { spec: { containers: [null] } } },
          `${typed}.template.spec.containers: element 0: associative list with keys may not have a null element`,
        ],
        [
          { template: { metadata: { finalizers: [{}] } } },
          `${typed}.template.metadata.finalizers: element 0: associative list without keys has an element that's a map type`,
        ],
        [pods([probe({})]), `${converted}: json: cannot unmarshal object into Go value of type int32`],
        [
          pods([{ name: 'c', resources: { limits: { cpu: 'x' } } }]),
          `${converted}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
        ],
      ] as const) {
        const answer = await apply('one', spec);
        assert.deepEqual([answer.status, answer.body.message], [500, why]);
      }
    });

    it('merges containers, ports and variables by their keys', async () => {
      const main = {
        name: 'main',
        image: 'i:1',
        env: [{ name: 'A', value: '1' }],
        ports: [{ containerPort: 80 }],
      };
      const created = ok(await apply('one', { replicas: 1, selector, ...pods([main]) }));
      assert.deepEqual(Object.keys(ownersOf(created)), ['Apply one']);
      const other = {
        name: 'main',
        env: [{ name: 'B', value: '2' }],
        ports: [{ containerPort: 81, name: 'x' }],
      };
      const both = ok(await apply('two', pods([other], { nodeSelector: { n: '1' } })));
      const template = both.spec?.['template'] as {
        spec: { containers: Record<string, { name: string }[]>[] };
      };
      const [merged = {}] = template.spec.containers;
      const variables = merged['env']?.map(({ name }) => name);
      assert.deepEqual(variables, ['A', 'B']);
      assert.equal(merged['image'], 'i:1');
      assert.deepEqual(ownersOf(both)['Apply two'], {
        'f:spec': {
          'f:template': {
            'f:metadata': { 'f:labels': { 'f:a': {} } },
            'f:spec': {
              'f:containers': {
                'k:{"name":"main"}': {
                  '.': {},
                  'f:env': { 'k:{"name":"B"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
                  'f:name': {},
                  'f:ports': {
                    'k:{"containerPort":81,"protocol":"TCP"}': {
                      '.': {},
                      'f:containerPort': {},
                      'f:name': {},
                    },
                  },
                },
              },
              'f:nodeSelector': {},
            },
          },
        },
      });
    });

    it('conflicts with the scale that an autoscaler has written', async () => {
      const scale = { spec: { replicas: 5 } };
      await fixture.patch(`${path()}/scale?fieldManager=scaler`, scale);
      const answer = await apply('one', { replicas: 1, selector, ...pods([{ name: 'main', image: 'i:1' }]) });
      assert.equal(
        answer.body.message,
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas',
      );
      const forced = await applier.raw(`${path()}/scale?fieldManager=other&force=true`, {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'web' },
        spec: { replicas: 5 },
      });
      assert.equal(ok(forced).kind, 'Scale');
      const { body: owned } = await fixture.client.get(path());
      assert.deepEqual(ownersOf(owned)['Apply other scale'], { 'f:spec': { 'f:replicas': {} } });
      const calm = ok(await apply('one', { selector, ...pods([{ name: 'main', image: 'i:1' }]) }));
      assert.equal(calm.spec?.['replicas'], 5);
    });
  });
}
