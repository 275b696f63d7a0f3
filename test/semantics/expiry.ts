/** Expired revisions: 410 in its three forms, on a server that has forgotten its history. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, names, refused } from './fixture.ts';
import type { Target } from './target.ts';
import { brief } from './client.ts';

const INCONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

export function expirySemantics(target: () => Promise<Target>): void {
  describe('410', () => {
    const fixture = Fixture.use(target);

    it('for a watch is an ERROR event inside a 200, and the end of the stream', async () => {
      const { metadata } = await fixture.create('old');
      await fixture.touch('old', '1');
      await fixture.target.forgetHistory();
      const from = metadata.resourceVersion;
      const stream = await fixture.watchFrom(from);
      assert.equal(stream.status, 200);
      const event = await stream.next();
      assert.equal(event?.type, 'ERROR');
      const { kind, apiVersion, status, reason, code, message } = event?.object ?? { kind: '' };
      assert.deepEqual(
        { kind, apiVersion, status, reason, code },
        { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
      );
      assert.match(message ?? '', new RegExp(`^too old resource version: ${from} \\(\\d+\\)$`));
      assert.equal(await stream.next(), undefined);
      assert.equal(await stream.ended, 'complete');
    });

    it('does not affect a watch from the present', async () => {
      await fixture.target.forgetHistory();
      const from = await fixture.revision();
      const stream = await fixture.watchFrom(from);
      await fixture.create('after');
      assert.equal(brief(await stream.next()), 'ADDED after');
    });

    it('for a list at exactly a forgotten revision is an HTTP status', async () => {
      const { metadata } = await fixture.create('listed');
      await fixture.touch('listed', '1');
      await fixture.target.forgetHistory();
      const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
      const answer = await fixture.client.get(fixture.configMaps(query));
      refused(answer, 410, 'The resourceVersion for the provided list is too old.', 'Expired');
    });

    it('for a continue token returns another token, with which the list goes on in the present', async () => {
      for (const name of ['a', 'b', 'c']) await fixture.create(name);
      const first = await fixture.list('limit=1');
      await fixture.create('d');
      await fixture.target.forgetHistory();

      const next = `limit=10&continue=${encodeURIComponent(first.metadata.continue ?? '')}`;
      const answer = await fixture.client.get(fixture.configMaps(next));
      refused(answer, 410, INCONSISTENT, 'Expired');
      const token = encodeURIComponent(answer.body.metadata.continue ?? '');
      const rest = await fixture.list(`limit=10&continue=${token}`);
      assert.deepEqual(names(rest), ['b', 'c', 'd'], 'with the object that was created meanwhile');
    });
  });
}
