/** The extensions of a schema: lists whose items are unique, and fields that selectors can use. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Definitions, causes } from './definitions.ts';
import { Fixture, names, ok } from './fixture.ts';
import type { Target } from './target.ts';
import { until } from '../kit/until.ts';

const TEXT = { type: 'string' };
const SPEC = {
  type: 'object',
  properties: {
    color: TEXT,
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
    byName: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: TEXT, value: TEXT } },
    },
  },
};

export function schemaFieldSemantics(target: () => Promise<Target>): void {
  describe('a schema with extensions', () => {
    const fixture = Fixture.use(target, 'together');
    const definitions = new Definitions(fixture);
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } };
    const selectableFields = [{ jsonPath: '.spec.color' }];
    before(() =>
      definitions.establish('gadgets', 'Gadget', [
        { name: 'v1', served: true, storage: true, schema, selectableFields },
      ]),
    );
    after(() => definitions.removeAll('gadgets'));
    const create = (name: string, spec: object): Promise<Answer> =>
      fixture.client.post(
        definitions.objects('gadgets'),
        definitions.object('Gadget', { metadata: { name }, spec }),
      );

    it('makes the items of sets and of lists with keys unique', async () => {
      const spec = { tags: ['x', 'x'], byName: [{ name: 'y' }, { name: 'y', value: '2' }] };
      assert.deepEqual(causes(await create('twice', spec)), [
        'FieldValueDuplicate spec.byName[1]: Duplicate value: {"name":"y"}',
        'FieldValueDuplicate spec.tags[1]: Duplicate value: "x"',
      ]);
    });

    it('that becomes stricter keeps the objects that exist, and refuses changes of what breaks it', async () => {
      const versions = (more: object): object[] => {
        const a = { type: 'object', properties: { size: { type: 'integer' }, note: TEXT }, ...more };
        const spec = { type: 'object', properties: { a, list: { type: 'array', items: TEXT } } };
        const openAPIV3Schema = { type: 'object', properties: { spec } };
        return [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
      };
      await definitions.establish('stricts', 'Strict', versions({}));
      const post = (name: string, spec: object): Promise<Answer> =>
        fixture.client.post(
          definitions.objects('stricts'),
          definitions.object('Strict', { metadata: { name }, spec }),
        );
      ok(await post('old', { a: { size: 9 } }));
      const required = {
        required: ['note'],
        properties: { size: { type: 'integer', maximum: 5 }, note: TEXT },
      };
      await fixture.patch(definitions.path('stricts'), { spec: { versions: versions(required) } });
      let number = 0;
      await until(async () => (await post(`new-${number++}`, { a: { size: 9 } })).status === 422);
      const patch = (body: object): Promise<Answer> =>
        fixture.client.mergePatch(definitions.objects('stricts', 'old'), body);
      ok(await patch({ metadata: { labels: { a: '1' } } }));
      ok(await patch({ spec: { list: ['x'] } }));
      assert.deepEqual(causes(await patch({ spec: { a: { size: 8 } } })), [
        'FieldValueInvalid spec.a.size: Invalid value: 8: spec.a.size in body should be less than or equal to 5',
        'FieldValueRequired spec.a.note: Required value',
      ]);
      ok(await patch({ spec: { a: { note: 'n' } } }));
      await definitions.removeAll('stricts');
    });

    it('names the fields that selectors can use', async () => {
      ok(await create('red', { color: 'red' }));
      ok(await create('none', {}));
      const select = (selector: string): Promise<Answer> =>
        fixture.client.get(`${definitions.objects('gadgets')}?fieldSelector=${encodeURIComponent(selector)}`);
      assert.deepEqual(names(ok(await select('spec.color=red'))), ['red']);
      assert.deepEqual(names(ok(await select('spec.color='))), ['none']);
      assert.equal((await select('spec.size=1')).body.message, 'field label not supported: spec.size');
    });
  });
}
