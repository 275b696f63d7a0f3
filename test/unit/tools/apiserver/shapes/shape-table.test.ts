/** The generator of the table of built-in kinds: from documents of a server and sources in Go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goStructs } from '../../../../e2e/shapes/go-structs.ts';
import { shapeTable, textOfTable } from '../../../../e2e/shapes/shape-table.ts';

const SOURCE = `
// Comment with \`json:"no"\`.
type ThingSpec struct {
	metav1.TypeMeta \`json:",inline"\`
	// Number of copies.
	Replicas *int32 \`json:"replicas,omitempty" protobuf:"varint,1,opt,name=replicas"\`
	Part \`json:",inline" protobuf:"bytes,2,opt,name=part"\`
}

type Part struct {
	Name string \`json:"name" protobuf:"bytes,1,opt,name=name"\`
}
`;

const REFERENCE = '#/components/schemas/io.k8s.api.apps.v1.Part';
const SCHEMAS = {
  'io.k8s.api.apps.v1.ThingSpec': {
    description: 'A thing.',
    type: 'object',
    properties: {
      description: { type: 'string', description: 'A text.' },
      replicas: { type: 'integer', format: 'int32' },
      name: { default: '', type: 'string' },
      part: { default: {}, allOf: [{ $ref: REFERENCE }] },
    },
  },
};

function structs() {
  return new Map(Array.from(goStructs(SOURCE)).map(([name, struct]) => [`apps.v1.${name}`, struct] as const));
}

describe('the generator of shapes', () => {
  it('leaves descriptions out, shortens references, and adds the tags of Go', () => {
    const table = shapeTable('v1', [{ components: { schemas: SCHEMAS } }], [], structs());
    assert.deepEqual(JSON.parse(textOfTable(table)), {
      version: 'v1',
      resources: [],
      shapes: {
        'apps.v1.ThingSpec': {
          inline: { 2: { name: 1 } },
          properties: {
            description: { type: 'string' },
            replicas: { type: 'integer', format: 'int32', go: '*int32', omitempty: true, number: 1 },
            name: { default: '', type: 'string', go: 'string' },
            part: { $ref: 'apps.v1.Part', default: {} },
          },
          type: 'object',
        },
      },
    });
  });

  it('lists resources with the verbs of their subresources', () => {
    const resource = {
      resource: 'things',
      responseKind: { kind: 'Thing' },
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get'],
      subresources: [{ subresource: 'status', verbs: ['get', 'patch'] }],
    };
    const versions = [{ version: 'v1', resources: [resource] }];
    const items = [{ metadata: { name: 'apps' }, versions }];
    const { resources } = shapeTable('v1', [], [{ items }], new Map());
    assert.deepEqual(resources, [
      {
        group: 'apps',
        version: 'v1',
        resource: 'things',
        kind: 'Thing',
        namespaced: true,
        singular: 'thing',
        verbs: ['get'],
        subresources: { status: ['get', 'patch'] },
      },
    ]);
  });

  it('refuses two schemas of one short name', () => {
    const schemas = { 'io.a.apps.v1.Part': { type: 'object' }, 'io.b.apps.v1.Part': { type: 'object' } };
    assert.throws(
      () => shapeTable('v1', [{ components: { schemas } }], [], new Map()),
      /share the short name apps\.v1\.Part/,
    );
  });
});
