/** Strategic merge patch of lists by key. test/semantics/patches.ts has sets, and directives of objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/tools/apiserver/store/json.ts';
import { schemaType } from '../../../../src/tools/apiserver/fields/schema-types.ts';
import { strategicMerge } from '../../../../src/tools/apiserver/write/strategic-merge.ts';

const ONE = { name: 'one', image: 'i:1', ports: [{ containerPort: 80, name: 'http' }] };
const TWO = { name: 'two', image: 'i:1' };
const TOLERATIONS = [{ key: 'a' }];

const POD: JsonObject = { spec: { containers: [ONE, TWO], tolerations: TOLERATIONS } };

const CASES: ReadonlyArray<readonly [what: string, patch: JsonObject, expected: JsonObject]> = [
  [
    'changes one entry of a keyed list and adds another',
    { spec: { containers: [{ name: 'two', image: 'i:2' }, { name: 'three' }] } },
    {
      spec: { containers: [ONE, { name: 'two', image: 'i:2' }, { name: 'three' }], tolerations: TOLERATIONS },
    },
  ],
  [
    'deletes an entry with $patch, beside the given order',
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'two' }],
        containers: [{ name: 'one', $patch: 'delete' }],
      },
    },
    { spec: { containers: [TWO], tolerations: TOLERATIONS } },
  ],
  [
    'replaces lists without a key, and a keyed one by directive',
    { spec: { tolerations: [{ key: 'b' }], containers: [{ $patch: 'replace' }, { name: 'new' }] } },
    { spec: { containers: [{ name: 'new' }], tolerations: [{ key: 'b' }] } },
  ],
  [
    'merges ports inside a container by their own key',
    {
      spec: {
        containers: [{ name: 'one', ports: [{ containerPort: 80, name: 'web' }, { containerPort: 443 }] }],
      },
    },
    {
      spec: {
        containers: [{ ...ONE, ports: [{ containerPort: 80, name: 'web' }, { containerPort: 443 }] }, TWO],
        tolerations: TOLERATIONS,
      },
    },
  ],
  [
    'sets the order of a list, new items first, and keeps only the given members of an object',
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'three' }, { name: 'two' }],
        containers: [{ name: 'three' }, { name: 'two', $retainKeys: ['name', 'tty'], tty: true }],
      },
    },
    { spec: { containers: [{ name: 'three' }, ONE, { name: 'two', tty: true }], tolerations: TOLERATIONS } },
  ],
];

describe('strategic merge patch', () => {
  for (const [what, patch, expected] of CASES) {
    it(what, () => {
      const before = structuredClone(POD);
      assert.deepEqual(strategicMerge(POD, patch, schemaType({ $ref: 'core.v1.Pod' })), {
        ...POD,
        ...expected,
      });
      assert.deepEqual(POD, before, 'the original stays as it was');
    });
  }

  it('refuses an item without its key, in the words of Go', () => {
    assert.throws(
      () =>
        strategicMerge(POD, { spec: { containers: [{ image: 'x' }] } }, schemaType({ $ref: 'core.v1.Pod' })),
      /map: map\[image:x\] does not contain declared merge key: name/,
    );
  });
});
