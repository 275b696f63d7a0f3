/** LIST: the meaning of each resourceVersion, and the form of the document. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fixture, names, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function listSemantics(target: () => Promise<Target>): void {
  describe('LIST', () => {
    const fixture = Fixture.use(target);

    it('answers with kind, apiVersion, metadata, items, in this order, and items without kind and apiVersion', async () => {
      await fixture.create('b');
      await fixture.create('a');
      const { body, headers, text } = await fixture.client.get(fixture.configMaps());
      assert.match(
        text,
        /^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\},"items":\[\{"metadata":\{"name":"a",/,
      );
      assert.ok(text.endsWith(']}\n'));
      assert.equal(headers['content-type'], 'application/json');
      assert.deepEqual(names(body), ['a', 'b'], 'sorted by name, not by age');
      assert.equal(body.items[0]?.kind, undefined);
      assert.equal(body.items[0]?.apiVersion, undefined);
    });

    it('has an empty array of items when there is nothing', async () => {
      const { text } = await fixture.client.get(fixture.configMaps());
      assert.match(text, /"items":\[\]\}\n$/);
    });

    it('sorts a list over all namespaces by namespace, then name', async () => {
      const label = `order-${fixture.namespace}`;
      const first = await fixture.newNamespace();
      await fixture.create('x', { [label]: '1' });
      const second = await fixture.newNamespace();
      await fixture.create('a', { [label]: '1' });
      const list = await fixture.get(`/api/v1/configmaps?labelSelector=${label}`);
      const keys = list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      assert.deepEqual(keys, [`${first}/x`, `${second}/a`].sort());
    });

    it('without a resourceVersion is at least as new as every finished write', async () => {
      const created = await fixture.create('fresh');
      const list = await fixture.list();
      assert.ok(names(list).includes('fresh'));
      assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(created.metadata.resourceVersion));
    });

    it('with resourceVersion=N is at least as new as N', async () => {
      const created = await fixture.create('not-older');
      const version = created.metadata.resourceVersion;
      for (const query of [
        `resourceVersion=${version}`,
        `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      ]) {
        const list = await fixture.list(query);
        assert.ok(names(list).includes('not-older'), query);
        assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(version), query);
      }
    });

    it('with resourceVersion=0 answers with the whole list even when there is a limit', async () => {
      for (const name of ['a', 'b', 'c']) await fixture.create(name);
      // "0" accepts any version; after a list that waited for the last write the cache has that write.
      const version = await fixture.revision();
      await fixture.list(`resourceVersion=${version}`);
      const list = await fixture.list('resourceVersion=0&limit=1');
      assert.deepEqual(names(list), ['a', 'b', 'c']);
      assert.equal(list.metadata.continue, undefined);
    });
  });
  exactSemantics(target);
  listErrorSemantics(target);
}

function exactSemantics(target: () => Promise<Target>): void {
  describe('LIST at exactly one revision', () => {
    const fixture = Fixture.use(target);

    it('shows the state of that revision: without later objects, with those deleted since, in their old form', async () => {
      await fixture.create('changed', {}, { touched: 'before' });
      const last = await fixture.create('deleted');
      const version = last.metadata.resourceVersion;
      await fixture.touch('changed', 'after');
      await fixture.delete('deleted');
      await fixture.create('later');

      const query = `resourceVersion=${version}&resourceVersionMatch=Exact`;
      const list = await fixture.list(query);
      assert.deepEqual(names(list), ['changed', 'deleted']);
      assert.equal(list.items[0]?.data?.['touched'], 'before');
      assert.equal(list.metadata.resourceVersion, version);
    });

    it('is the meaning of resourceVersion=N with a limit and no match', async () => {
      await fixture.create('a');
      const { metadata } = await fixture.create('b');
      await fixture.create('c');
      const list = await fixture.list(`resourceVersion=${metadata.resourceVersion}&limit=1`);
      assert.equal(list.metadata.resourceVersion, metadata.resourceVersion);
      assert.deepEqual(names(list), ['a']);
      assert.equal(list.metadata.remainingItemCount, 1);
    });
  });
}

/** Every combination that the server refuses, with the field errors of its 422. */
const REFUSED: ReadonlyArray<readonly [query: string, message: string]> = [
  [
    'resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    'resourceVersion=1&resourceVersionMatch=Foo',
    'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
  ],
  ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
  [
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    '[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]',
  ],
];

function listErrorSemantics(target: () => Promise<Target>): void {
  describe('LIST refuses', () => {
    const fixture = Fixture.use(target);

    for (const [query, message] of REFUSED) {
      it(`${query} with 422`, async () => {
        const answer = await fixture.client.get(fixture.configMaps(query));
        refused(answer, 422, `ListOptions.meta.k8s.io "" is invalid: ${message}`, 'Invalid');
        assert.equal(answer.body.details?.['kind'], 'ListOptions');
        assert.equal(answer.body.details?.['group'], 'meta.k8s.io');
      });
    }

    it('a resourceVersion that is not a number with 400', async () => {
      const answer = await fixture.client.get(fixture.configMaps('resourceVersion=abc'));
      const message =
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax';
      refused(answer, 400, message);
    });

    it('a limit that is not a number with 400, and ignores a negative one', async () => {
      const answer = await fixture.client.get(fixture.configMaps('limit=abc'));
      refused(answer, 400, 'strconv.ParseInt: parsing "abc": invalid syntax');
      await fixture.list('limit=-1');
    });

    for (const match of ['', '&resourceVersionMatch=NotOlderThan', '&resourceVersionMatch=Exact']) {
      it(`a revision of the future with 504 and its own cause (${match})`, async () => {
        const query = `resourceVersion=999999999${match}`;
        const { status, body, headers } = await fixture.client.get(fixture.configMaps(query));
        assert.equal(status, 504);
        assert.match(body.message ?? '', /^Timeout: Too large resource version: 999999999, current: \d+$/);
        assert.equal(body.reason, 'Timeout');
        assert.deepEqual(body.details, {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        });
        assert.equal(headers['retry-after'], '1');
      });
    }
  });
}
