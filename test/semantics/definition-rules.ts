/** The rules for CustomResourceDefinitions: changes of a valid definition, in dry runs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { DEFINITIONS, causes, text } from './definitions.ts';
import { Fixture, ok } from './fixture.ts';
import type { Target } from './target.ts';

/**
 * Changes of a valid definition, each with the causes for which a kube-apiserver refuses the definition: the changed place, the
 * value as JSON, and the causes. `a` is a field of the spec in the schema, `root` the schema, and `status` the schema beside a
 * status subresource; `@` abbreviates the path of the schema.
 */
const CASES = JSON.parse(
  readFileSync(new URL('../../../test/semantics/definition-cases.json', import.meta.url), 'utf8'),
) as (readonly [place: string, value: string, ...causes: string[]])[];

const SCHEMA = 'spec/versions/0/schema/openAPIV3Schema';
const PLACES: Readonly<Record<string, string>> = {
  a: `${SCHEMA}/properties/spec/properties/a`,
  root: SCHEMA,
  status: SCHEMA,
};

function changed(place: string, value: string): object {
  const spec = { type: 'object', properties: { a: text } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const apart = place === 'status' ? { subresources: { status: {} } } : {};
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.cases.io' },
    spec: {
      group: 'cases.io',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [{ name: 'v1', served: true, storage: true, schema, ...apart }],
    },
  };
  const path = (PLACES[place] ?? place).split('/');
  let parent: object = definition;
  for (const name of path.slice(0, -1)) parent = Reflect.get(parent, name) as object;
  if (value === '') Reflect.deleteProperty(parent, path.at(-1) ?? '');
  else Reflect.set(parent, path.at(-1) ?? '', JSON.parse(value));
  return definition;
}

function shortened(cause: string): string {
  const [reason = '', ...rest] = cause.replace(/^FieldValue/, '').split(' ');
  return [reason, ...rest]
    .join(' ')
    .replaceAll('spec.validation.openAPIV3Schema', '@')
    .replaceAll('@.properties[spec].properties[a]', '@a')
    .replaceAll('\n', '\\n');
}

export function definitionRuleSemantics(target: () => Promise<Target>): void {
  describe('the rules for CustomResourceDefinitions', () => {
    const fixture = Fixture.use(target, 'together');
    for (const [place, value, ...expected] of CASES) {
      const verb = expected.length === 0 ? 'accepts' : 'refuses';
      it(`${verb} ${value === '' ? 'nothing' : value.slice(0, 200)} as ${place}`, async () => {
        const answer = await fixture.client.post(`${DEFINITIONS}?dryRun=All`, changed(place, value));
        if (expected.length === 0) ok(answer);
        else assert.deepEqual(causes(answer).map(shortened).toSorted(), expected.toSorted());
      });
    }
  });
}
