/** Lists in pages: all pages show one moment, whatever is written meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Body } from './client.ts';
import { Fixture, names, refused } from './fixture.ts';
import type { Target } from './target.ts';

export function paginationSemantics(target: () => Promise<Target>): void {
  describe('LIST in pages', () => {
    const fixture = Fixture.use(target);

    async function page(limit: number, token: string | undefined, more = ''): Promise<Body> {
      const next = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
      return fixture.list(`limit=${limit}${next}${more}`);
    }

    async function five(): Promise<void> {
      for (const name of ['a', 'b', 'c', 'd', 'e'])
        await fixture.create(name, { half: name < 'c' ? '1' : '2' });
    }

    it('shows one snapshot: later writes are in no page, and every page has the first resourceVersion', async () => {
      await five();
      const first = await page(2, undefined);
      assert.deepEqual(names(first), ['a', 'b']);
      assert.equal(first.metadata.remainingItemCount, 3);

      await fixture.create('bb');
      await fixture.delete('c');
      await fixture.touch('d', 'later');
      const second = await page(2, first.metadata.continue);
      assert.deepEqual(names(second), ['c', 'd']);
      assert.equal(second.items[1]?.data?.['touched'], undefined);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(second.metadata.remainingItemCount, 1);

      const third = await page(2, second.metadata.continue);
      assert.deepEqual(names(third), ['e']);
      assert.equal(third.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(third.metadata.continue, undefined);
      assert.equal(third.metadata.remainingItemCount, undefined);
    });

    it('has no continue token when the limit is just enough', async () => {
      await five();
      const list = await page(5, undefined);
      assert.equal(list.metadata.continue, undefined);
      assert.equal(list.metadata.remainingItemCount, undefined);
    });

    it('counts the objects that match a selector, and does not return the remaining number', async () => {
      await five();
      const first = await page(2, undefined, '&labelSelector=half=2');
      assert.deepEqual(names(first), ['c', 'd']);
      assert.equal(first.metadata.remainingItemCount, undefined);
      const second = await page(2, first.metadata.continue, '&labelSelector=half=2');
      assert.deepEqual(names(second), ['e']);
      assert.equal(second.metadata.continue, undefined);
    });

    it('may have another limit on each page', async () => {
      await five();
      const first = await page(1, undefined);
      const second = await page(3, first.metadata.continue);
      assert.deepEqual(names(second), ['b', 'c', 'd']);
    });

    it('ends in one page when resourceVersion=0 goes with the continue token', async () => {
      await five();
      const first = await page(2, undefined);
      const rest = await page(1, first.metadata.continue, '&resourceVersion=0');
      assert.deepEqual(names(rest), ['c', 'd', 'e']);
    });

    it('refuses a resourceVersion beside the token, a match beside the token, and an invalid token', async () => {
      await five();
      const { metadata } = await page(2, undefined);
      const token = encodeURIComponent(metadata.continue ?? '');
      const version = await fixture.client.get(
        fixture.configMaps(`limit=2&continue=${token}&resourceVersion=${metadata.resourceVersion}`),
      );
      refused(version, 400, 'specifying resource version is not allowed when using continue');

      const query = `continue=${token}&resourceVersion=1&resourceVersionMatch=NotOlderThan`;
      const match = await fixture.client.get(fixture.configMaps(query));
      refused(match, 422, /resourceVersionMatch is forbidden when continue is provided/);

      const malformed = await fixture.client.get(fixture.configMaps('limit=2&continue=abc'));
      refused(malformed, 400, /^invalid continue token: continue key is not valid/);
    });
  });
}
