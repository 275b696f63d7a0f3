/** The bytes of objects: one encoding, many revisions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../src/tools/apiserver/store/json.ts';
import { LoadTemplate, STAMP_ANNOTATION } from '../../../../src/tools/apiserver/load/load-template.ts';
import { ResourceTable } from '../../../../src/tools/apiserver/store/resources.ts';
import { builtInResources } from '../../../../src/tools/apiserver/shapes/built-in-resources.ts';
import { StoredObject } from '../../../../src/tools/apiserver/store/stored-object.ts';
import { WIDGETS } from '../../../kit/objects.ts';

const PODS = new ResourceTable(builtInResources()).named('pods');
const OBJECT: KubeObject = {
  metadata: {
    name: 'ä-€-𝄞',
    namespace: 'ns',
    uid: 'u',
    annotations: { note: 'resourceVersion":"1" ü', zeta: '2' },
    managedFields: [{ manager: 'm' }],
  },
  spec: { text: '日本', nested: { b: 1, a: [1, { d: 1, c: 2 }] } },
  aaa: 'before metadata when sorted',
};

describe('a stored object', () => {
  for (const definition of [PODS, WIDGETS]) {
    it(`of ${definition.resource} has the same content at every revision, whatever its digits`, () => {
      const first = StoredObject.encode(definition, OBJECT, 9);
      for (const revision of [9, 10, 99_999, 9_007_199_254_740_991]) {
        const object = first.withRevision(revision);
        const parsed = object.parse();
        assert.equal(parsed.metadata.resourceVersion, String(revision));
        assert.deepEqual(parsed['spec'], OBJECT['spec']);
        assert.deepEqual(parsed.metadata.annotations, OBJECT.metadata.annotations);
        assert.equal(object.toBuffer().length, object.length);
        const partial = JSON.parse(Buffer.concat(object.metadataOnly()).toString()) as KubeObject;
        assert.deepEqual(partial.metadata, parsed.metadata);
        const item = JSON.parse(Buffer.concat(object.listItem(definition)).toString()) as KubeObject;
        assert.equal(item.kind, definition.custom === true ? 'Widget' : undefined);
        assert.deepEqual(item['spec'], OBJECT['spec']);
      }
    });

    it(`of ${definition.resource} is stamped in place by the load generator`, () => {
      const stored = StoredObject.encode(definition, OBJECT, 7);
      const template = new LoadTemplate(definition, stored);
      assert.equal(template.isCurrent(stored), true);
      for (const [revision, stamp] of [
        [8, 1],
        [12_345, 1_763_660_000_000_000],
      ] as const) {
        const next = template.next(revision, stamp);
        assert.equal(template.isCurrent(next), true);
        const { annotations, resourceVersion } = next.parse().metadata;
        assert.equal(Number(annotations?.[STAMP_ANNOTATION]), stamp);
        assert.equal(annotations?.['note'], OBJECT.metadata.annotations?.['note']);
        assert.equal(resourceVersion, String(revision));
      }
      assert.equal(template.isCurrent(stored), false);
      assert.equal(
        stored.parse().metadata.annotations?.[STAMP_ANNOTATION],
        undefined,
        'older versions stay as they were',
      );
    });
  }
});
