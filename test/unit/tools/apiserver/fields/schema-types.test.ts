/** The types by which fields are owned: the table of built-in kinds, and schemas. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elementOfItem, formOf, schemaType } from '../../../../../src/tools/apiserver/fields/schema-types.ts';
import type { FieldType } from '../../../../../src/tools/apiserver/fields/schema-types.ts';

/** Follows a path; `[]` is an item of a list. */
function at(kind: string, path: string): FieldType {
  let type = schemaType({ $ref: kind });
  for (const name of path.split('.')) type = name === '[]' ? type.item : (type.member(name) ?? type);
  return type;
}

describe('the type of a built-in field', () => {
  it('gives lists their keys by their place', () => {
    const keys = (kind: string, path: string): unknown => {
      const { items } = at(kind, path);
      return items?.form === 'map' ? items.keys : items?.form;
    };
    const template = 'spec.template.spec';
    assert.deepEqual(keys('apps.v1.Deployment', `${template}.containers`), ['name']);
    assert.deepEqual(keys('apps.v1.Deployment', `${template}.containers.[].ports`), [
      'containerPort',
      'protocol',
    ]);
    assert.deepEqual(keys('apps.v1.Deployment', `${template}.containers.[].volumeMounts`), ['mountPath']);
    assert.deepEqual(keys('core.v1.Service', 'spec.ports'), ['port', 'protocol']);
    assert.deepEqual(keys('core.v1.Pod', 'status.conditions'), ['type']);
    assert.equal(keys('batch.v1.Job', 'status.conditions'), undefined);
    assert.equal(keys('core.v1.ConfigMap', 'metadata.finalizers'), 'set');
    assert.equal(keys('core.v1.Namespace', 'spec.finalizers'), undefined);
    assert.equal(keys('apps.v1.Deployment', `${template}.tolerations`), undefined);
  });

  it('owns selectors and references as a whole, and labels by their keys', () => {
    for (const path of ['spec.selector', 'spec.template.spec.nodeSelector', 'metadata.ownerReferences.[]'])
      assert.equal(formOf(at('apps.v1.Deployment', path), {}), 'leaf', path);
    for (const path of ['metadata.labels', 'spec.template.spec.securityContext'])
      assert.equal(formOf(at('apps.v1.Deployment', path), {}), 'fields', path);
  });

  it('names an item by its keys in alphabetical order, with the default protocol', () => {
    const { items } = at('core.v1.Service', 'spec.ports');
    assert.ok(items);
    assert.equal(elementOfItem(items, { port: 80 }), 'k:{"port":80,"protocol":"TCP"}');
    assert.equal(elementOfItem(items, { protocol: 'UDP', port: 80 }), 'k:{"port":80,"protocol":"UDP"}');
  });
});

describe('the type of a schema', () => {
  const text = { type: 'string' };
  const type = schemaType({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          byName: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', properties: { name: text } },
          },
          whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  });
  const spec = type.member('spec');

  it('follows list types, map types and unknown fields', () => {
    assert.deepEqual(spec?.member('byName')?.items, {
      form: 'map',
      keys: ['name'],
      defaults: { name: undefined },
    });
    assert.equal(spec?.member('whole')?.isAtomic, true);
    assert.equal(spec?.member('absent'), undefined);
    assert.equal(spec?.member('free')?.member('anything')?.names('x'), false);
    assert.equal(spec?.member('constructor'), undefined);
  });

  it('has the metadata of built-in kinds', () => {
    assert.equal(type.member('metadata')?.member('finalizers')?.items?.form, 'set');
  });
});
