/** The extensions of a schema: lists whose items are unique, and fields that selectors can use. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from './client.ts';
import { Definitions, causes } from './definitions.ts';
import { Fixture, names, ok } from './fixture.ts';
import type { Target } from './target.ts';

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
