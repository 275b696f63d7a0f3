/** Server-side apply by kubectl of an object that kubectl applied before on the client's side. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Applier, ownersOf } from './applier.ts';
import { Fixture } from './fixture.ts';
import type { Target } from './target.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

export function takeOverSemantics(target: () => Promise<Target>): void {
  describe('server-side apply of kubectl', () => {
    const fixture = Fixture.use(target, 'together');
    const applier = new Applier(fixture);
    const create = async (name: string, data: object): Promise<void> => {
      const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
      const annotations = { [ANNOTATION]: `${JSON.stringify(config)}\n` };
      await fixture.post(fixture.configMaps(), { ...config, metadata: { name, annotations } });
    };

    it('takes the fields of the annotation that the object has unchanged, and rewrites the annotation', async () => {
      await create('taken', { a: '1' });
      const taken = await applier.apply('taken', 'kubectl', { data: { a: '2' } });
      const config = '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"taken"}}\n';
      assert.equal(taken.metadata.annotations?.[ANNOTATION], config);
      assert.deepEqual(ownersOf(taken)['Apply kubectl'], { 'f:data': { 'f:a': {} } });
    });

    it('conflicts about a field that another client has changed since', async () => {
      await create('changed', { a: '1', b: '1' });
      await fixture.patch(fixture.configMap('changed'), { data: { b: '2' } });
      const { body } = await applier.send('changed', 'kubectl', { data: { a: '3', b: '3' } });
      assert.equal(
        body.message,
        'Apply failed with 1 conflict: conflict with "kubeloom-semantics" using v1: .data.b',
      );
    });

    it('of another manager has no such rights, and leaves the annotation', async () => {
      await create('other', { a: '1' });
      const { status } = await applier.send('other', 'one', { data: { a: '2' } });
      assert.equal(status, 409);
      const forced = await applier.apply('other', 'one', { data: { a: '2' } }, '&force=true');
      assert.match(forced.metadata.annotations?.[ANNOTATION] ?? '', /"a":"1"/);
    });
  });
}
