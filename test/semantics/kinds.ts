/** Objects of built-in kinds: types and names of fields, and the rules of small kinds, in dry runs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Answer, Body } from './client.ts';
import { Fixture, ok, refused } from './fixture.ts';
import type { Target } from './target.ts';

/**
 * Creations, each with the status and the message of the refusal, or with the warning of the answer. If a row has a patch, the
 * answer is about the patch of the created object. The last member is the spec that the server stores.
 */
const CASES = JSON.parse(
  readFileSync(new URL('../../../test/semantics/kind-cases.json', import.meta.url), 'utf8'),
) as (readonly [
  path: string,
  body: { readonly metadata: { readonly name: string } },
  status: number,
  text: string,
  patch?: object | null,
  stored?: object,
])[];

function memberOf(body: Body, name: string): unknown {
  return Reflect.get(body, name);
}

/** Returns a message with the causes in the order of the alphabet, because servers differ in the order. */
function inOrder(message = ''): string {
  const [, start, causes] = /^(.* is invalid: )\[(.*)\]$/s.exec(message) ?? [];
  return causes === undefined
    ? message
    : `${start ?? ''}${causes
        .split(/, (?=[\w.[\]]+: )/)
        .toSorted()
        .join()}`;
}

/** Creates an object, patches the object in a dry run, and deletes it. */
async function answerToPatch(
  { client }: Fixture,
  path: string,
  body: (typeof CASES)[number][1],
  patch: object,
): Promise<Answer> {
  ok(await client.post(path, body));
  const object = `${path}/${body.metadata.name}`;
  const answer = await client.mergePatch(`${object}?dryRun=All`, patch);
  ok(await client.delete(object));
  return answer;
}

export function kindSemantics(target: () => Promise<Target>): void {
  describe('an object of a built-in kind', () => {
    const fixture = Fixture.use(target);

    for (const [path, body, status, text, patch = null, stored] of CASES) {
      const verb = status < 300 ? 'accepted' : 'refused';
      const change = patch === null ? '' : ` with ${JSON.stringify(patch)}`;
      it(`is ${verb}: ${path.split('/').at(-1) ?? ''} ${JSON.stringify(body)}${change}`, async () => {
        const isCreation = patch === null;
        const place = path.replace('/NS/', `/namespaces/${isCreation ? 'default' : fixture.namespace}/`);
        const answer = isCreation
          ? await fixture.client.post(`${place}${place.includes('?') ? '&' : '?'}dryRun=All`, body)
          : await answerToPatch(fixture, place, body, patch);
        // The further lines of a real server show the change.
        const [line = ''] = (answer.body.message ?? '').split('\n@@');
        const shown = status < 300 ? (answer.headers.warning ?? '') : line;
        assert.deepEqual([answer.status, inOrder(shown)], [status, inOrder(text)]);
        if (stored !== undefined) assert.deepEqual(memberOf(answer.body, 'spec'), stored);
      });
    }

    it('of the kind Secret has its texts in base64 among the data, and a type', async () => {
      const path = `/api/v1/namespaces/${fixture.namespace}/secrets`;
      const data = { a: 'YQ==', b: 'Yg==' };
      const created = await fixture.post(path, { metadata: { name: 's' }, data, stringData: { b: 'c' } });
      const [type, stored, stringData] = ['type', 'data', 'stringData'].map((name) =>
        memberOf(created, name),
      );
      assert.deepEqual(
        { type, stored, stringData },
        {
          type: 'Opaque',
          stored: { a: 'YQ==', b: 'Yw==' },
          stringData: undefined,
        },
      );
      const changed = await fixture.client.mergePatch(`${path}/s`, { type: 'kubernetes.io/tls' });
      refused(changed, 422, /type: Invalid value: "kubernetes\.io\/tls": field is immutable/);
    });

    it('that forbids changes keeps its data', async () => {
      await fixture.post(fixture.configMaps(), {
        metadata: { name: 'c' },
        data: { a: '1' },
        immutable: true,
      });
      const patch = (body: object) => fixture.client.mergePatch(fixture.configMap('c'), body);
      refused(
        await patch({ data: { a: '2' } }),
        422,
        /data: Forbidden: field is immutable when `immutable` is set/,
      );
      refused(await patch({ immutable: null }), 422, /immutable: Forbidden: field is immutable/);
      ok(await patch({ metadata: { labels: { a: 'b' } } }));
    });

    it('of the kind RoleBinding keeps its role', async () => {
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${fixture.namespace}/rolebindings`;
      await fixture.post(path, { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' } });
      const changed = await fixture.client.mergePatch(`${path}/b`, { roleRef: { name: 'other' } });
      refused(changed, 422, /roleRef: Invalid value: .*: cannot change roleRef/);
    });

    it('of the kind Event is the same object in both groups', async () => {
      const [core, events] = ['/api/v1', '/apis/events.k8s.io/v1'].map(
        (group) => `${group}/namespaces/${fixture.namespace}/events`,
      );
      const about = { kind: 'Pod', name: 'p', namespace: fixture.namespace };
      const times = { firstTimestamp: '2024-01-01T00:00:00Z', count: 2 };
      const given = { metadata: { name: 'e' }, involvedObject: about, message: 'm', reason: 'r', ...times };
      const { metadata } = await fixture.post(core ?? '', given);
      const list = await fixture.get(`${events}?fieldSelector=regarding.name=p,reason=r`);
      const [event] = list.items;
      assert.deepEqual(
        ['note', 'regarding', 'reason', 'deprecatedCount', 'message'].map((name) =>
          memberOf(event as Body, name),
        ),
        ['m', about, 'r', 2, undefined],
      );
      assert.equal(event?.metadata.resourceVersion, metadata.resourceVersion);
      ok(await fixture.client.mergePatch(`${events}/e`, { metadata: { labels: { a: 'b' } } }));
      const changed = await fixture.get(`${core}/e`);
      assert.deepEqual([memberOf(changed, 'message'), changed.metadata.labels], ['m', { a: 'b' }]);
      ok(await fixture.client.delete(`${events}/e`));
      assert.equal((await fixture.client.get(`${core}/e`)).status, 404);
    });

    it('with many unknown fields has warnings that a client can read', async () => {
      const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, 1]));
      const body = { metadata: { name: 'many' }, ...unknown };
      const { status, headers } = await fixture.client.post(fixture.configMaps(), body);
      assert.equal(status, 201);
      assert.match(headers.warning ?? '', /unknown field .*field0/);
      assert.ok((headers.warning ?? '').length < 8192);
    });

    it('has base64 without line breaks', async () => {
      const path = `/api/v1/namespaces/${fixture.namespace}/secrets`;
      const created = await fixture.post(path, { metadata: { name: 'wrapped' }, data: { a: 'YQ==\n' } });
      assert.deepEqual(created.data, { a: 'YQ==' });
    });

    it('has times in UTC, and no zeros that Go omits', async () => {
      const lease = `/apis/coordination.k8s.io/v1/namespaces/${fixture.namespace}/leases`;
      const renewTime = '2024-01-01T02:00:00.000000+02:00';
      const spec = { renewTime, holderIdentity: '', leaseTransitions: 0 };
      const created = await fixture.post(lease, { metadata: { name: 'l' }, spec });
      assert.deepEqual(memberOf(created, 'spec'), {
        ...spec,
        renewTime: '2024-01-01T00:00:00.000000Z',
      });
      const object = { metadata: { name: 'c', labels: {} }, data: {} };
      const stored = await fixture.post(fixture.configMaps(), object);
      assert.deepEqual([memberOf(stored, 'data'), stored.metadata?.labels], [undefined, undefined]);
    });
  });
}
