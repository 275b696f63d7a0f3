/** New objects of each built-in kind: the status that the server gives them, and the changes that the generation counts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Fixture, ok } from './fixture.ts';
import type { Target } from './target.ts';

/**
 * A creation; the status, null for none; a change of the object; the generations after the creation, a label, an annotation and
 * the change, 0 for none; and true if a write of the status leaves the metadata.
 */
type Case = readonly [
  path: string,
  body: { readonly metadata: { readonly name: string } },
  status: Readonly<Record<string, unknown>> | null,
  change: object,
  generations: readonly number[],
  isAlone?: true,
];

const TEXT = readFileSync(new URL('../../../test/semantics/new-object-cases.json', import.meta.url), 'utf8');

/** Returns the cases for objects of this name, in the namespace of this name. */
function casesOf(name: string): readonly Case[] {
  return JSON.parse(TEXT.replaceAll(/\bNS\b|\bNAME\b/g, name)) as readonly Case[];
}

export function newObjectSemantics(target: () => Promise<Target>): void {
  describe('a new object', () => {
    const fixture = Fixture.use(target, 'together');

    for (const [index, [place]] of casesOf('-').entries()) {
      it(`of ${place} has the status and the generation that the registry of the kind sets`, async () => {
        const [path, body, wanted, change, generations, isAlone] =
          casesOf(fixture.namespace)[index] ?? assert.fail();
        const object = `${path}/${body.metadata.name}`;
        const given = { status: { phase: 'Given', conditions: [{ type: 'Given', status: 'True' }] } };
        const isNode = path === '/api/v1/nodes';
        const created = await fixture.post(path, isNode ? body : { ...body, ...given });
        const labelled = await fixture.patch(object, { metadata: { labels: { a: 'b' } } });
        const annotated = await fixture.patch(object, { metadata: { annotations: { a: 'b' } } });
        const changed = await fixture.patch(object, { ...change, ...given });
        const found = [created, labelled, annotated, changed].map(({ metadata }) => metadata.generation ?? 0);
        assert.deepEqual(found, generations);
        assert.doesNotMatch(JSON.stringify(created.metadata), /f:status/);
        const { lastPhaseTransitionTime: _, ...status } = (created.status ?? {}) as Record<string, unknown>;
        assert.deepEqual(created.status === undefined ? null : status, wanted);
        if (wanted !== null) {
          const metadata = { annotations: { a: 'c' } };
          const written = await fixture.patch(`${object}/status`, { metadata, status: wanted });
          assert.equal(written.metadata.annotations?.['a'], isAlone === true ? 'b' : 'c');
          assert.equal(written.metadata.generation, changed.metadata.generation);
        }
        ok(await fixture.client.delete(object));
      });
    }

    it('of the kind Pod has a class by its resources, and a condition if it is gated', async () => {
      const some = { cpu: '1', memory: '1Gi' };
      const same = { cpu: '1000m', memory: '1024Mi' };
      const gates = [{ name: 'example.com/gate' }];
      const pods: (readonly [qosClass: string, resources: object, rest?: object])[] = [
        ['BestEffort', { requests: { cpu: '0' } }],
        ['Burstable', { requests: some, limits: { cpu: '1' } }],
        ['Burstable', { requests: some, limits: { ...some, cpu: '2' } }],
        ['Guaranteed', { requests: some, limits: same }],
        ['Burstable', { requests: some, limits: same }, { initContainers: [{ name: 'init', image: 'i' }] }],
        ['Guaranteed', {}, { resources: { requests: some, limits: some } }],
        ['BestEffort', {}, { schedulingGates: gates }],
      ];
      for (const [index, [qosClass, resources, rest = {}]] of pods.entries()) {
        const spec = { containers: [{ name: 'c', image: 'i', resources }], ...rest };
        const metadata = { name: `class-${index}` };
        const { status } = await fixture.post(fixture.pods(), { metadata, spec });
        const { conditions, ...others } = status as { readonly conditions?: readonly object[] };
        assert.deepEqual(others, { phase: 'Pending', qosClass });
        assert.equal(conditions?.length, 'schedulingGates' in rest ? 1 : undefined);
        const running = { metadata, spec, status: { phase: 'Running' } };
        const written = await fixture.put(`${fixture.pod(metadata.name)}/status`, running);
        assert.deepEqual(written.status, { ...running.status, qosClass });
      }
    });
  });
}
