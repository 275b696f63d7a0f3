/** The extensions of a schema: lists whose items are unique, and fields that selectors can use. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Definitions, causes, versionOf } from './definitions.ts';
import { Fixture, names, ok } from './fixture.ts';
import type { Target } from './target.ts';
import { until } from '../kit/until.ts';

const TEXT = { type: 'string' };
const SPEC = {
  type: 'object',
  properties: {
    color: TEXT,
    open: {
      type: 'array',
      'x-kubernetes-preserve-unknown-fields': true,
      items: { type: 'object', properties: { inner: { type: 'object', properties: { a: TEXT } } } },
    },
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
    const selectableFields = [{ jsonPath: '.spec.color' }];
    before(() => definitions.establish('gadgets', 'Gadget', [versionOf(SPEC, { selectableFields })]));
    after(() => definitions.removeAll('gadgets'));
    const create = (name: string, spec: object): Promise<Answer> => definitions.create('Gadget', name, spec);

    it('makes the items of sets and of lists with keys unique', async () => {
      const spec = { tags: ['x', 'x'], byName: [{ name: 'y' }, { name: 'y', value: '2' }] };
      assert.deepEqual(causes(await create('twice', spec)), [
        'FieldValueDuplicate spec.byName[1]: Duplicate value: {"name":"y"}',
        'FieldValueDuplicate spec.tags[1]: Duplicate value: "x"',
      ]);
    });

    it('keeps unknown fields of the items of a list that preserves them, and drops them further inside', async () => {
      const { spec } = ok(
        await create('open', { color: 'any', open: [{ inner: { a: 'x', b: 1 }, c: { d: 1 } }] }),
      );
      assert.deepEqual(spec, { color: 'any', open: [{ inner: { a: 'x' }, c: { d: 1 } }] });
    });

    it('that becomes stricter keeps the objects that exist, and refuses changes of what breaks it', async () => {
      const versions = (more: object): object[] => {
        const a = { type: 'object', properties: { size: { type: 'integer' }, note: TEXT }, ...more };
        return [versionOf({ type: 'object', properties: { a, list: { type: 'array', items: TEXT } } })];
      };
      await definitions.establish('stricts', 'Strict', versions({}));
      const size = { a: { size: 9 } };
      ok(await definitions.create('Strict', 'old', size));
      const required = {
        required: ['note'],
        properties: { size: { type: 'integer', maximum: 5 }, note: TEXT },
      };
      await fixture.patch(definitions.path('stricts'), { spec: { versions: versions(required) } });
      let number = 0;
      await until(async () => (await definitions.create('Strict', `new-${number++}`, size)).status === 422);
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
