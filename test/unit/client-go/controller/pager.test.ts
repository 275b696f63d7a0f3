/** Tests of lists in pages: client-go's pager_test.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListPager } from '../../../../src/client-go/controller/pager.ts';
import type { KubeList, ListOptions } from '../../../../src/kube/lister-watcher.ts';
import { settle } from './scene.ts';
import { statusThrown } from './scripted-lister-watcher.ts';

/** Numbers in pages, as a server with a continue token returns them. */
class Numbers {
  readonly calls: string[] = [];
  readonly #total: number;
  /** Number of the page that the server has lost, from 1. */
  expired = Infinity;

  constructor(total: number) {
    this.#total = total;
  }

  readonly page = async (options: ListOptions): Promise<KubeList<number>> => {
    this.calls.push(JSON.stringify(options));
    const { limit = Infinity, continue: token = '0' } = options;
    const from = Number(token);
    if (this.calls.length === this.expired) throw statusThrown(410, 'Expired');
    const to = Math.min(this.#total, from + limit);
    const items = Array.from({ length: to - from }, (_, index) => from + index);
    const more = to < this.#total ? { continue: String(to), remainingItemCount: this.#total - to } : {};
    return { kind: 'Numbers', metadata: { resourceVersion: `rv:${from}`, ...more }, items };
  };
}

const AT = { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan' } as const;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('A list of one page is returned unchanged; a list of several is one list at the version of the first page', async () => {
  for (const [total, pages] of [
    [0, 1],
    [9, 1],
    [10, 1],
    [11, 2],
    [21, 3],
  ] as const) {
    const source = new Numbers(total);
    const { list, isPaginated } = await new ListPager(source.page, { pageSize: 10 }).list(AT);
    assert.deepEqual(list.items, upTo(total));
    assert.equal(isPaginated, pages > 1);
    assert.equal(source.calls.length, pages);
    assert.deepEqual(list.metadata, { resourceVersion: 'rv:0' });
    assert.equal(list.kind, 'Numbers');
  }
});

test('A limit of 0 means no limit: pages have the size of the pager', async () => {
  const source = new Numbers(11);
  const { isPaginated } = await new ListPager(source.page, { pageSize: 10 }).list({ limit: 0 });
  assert.equal(isPaginated, true);
  assert.deepEqual(source.calls, ['{"limit":10}', '{"limit":10,"continue":"10"}']);
});

test('Version and match are sent for the first page only, the limit for all; 500 is the default', async () => {
  const source = new Numbers(11);
  await new ListPager(source.page, { pageSize: 10 }).list({ ...AT, labelSelector: 'a=b' });
  assert.deepEqual(source.calls, [
    '{"resourceVersion":"7","resourceVersionMatch":"NotOlderThan","labelSelector":"a=b","limit":10}',
    '{"labelSelector":"a=b","limit":10,"continue":"10"}',
  ]);
  const other = new Numbers(1);
  await new ListPager(other.page).list({});
  await new ListPager(other.page).list({ limit: 3 });
  assert.deepEqual(other.calls, ['{"limit":500}', '{"limit":3}']);
});

test('Expired pages lead to one list of everything at the requested version, or to an error', async () => {
  const source = new Numbers(21);
  source.expired = 2;
  const { list, isPaginated } = await new ListPager(source.page, { pageSize: 10 }).list(AT);
  assert.deepEqual(list.items, upTo(21));
  assert.equal(isPaginated, true);
  assert.equal(source.calls[2], JSON.stringify(AT));
  const strict = new Numbers(21);
  strict.expired = 2;
  const pager = new ListPager(strict.page, { pageSize: 10, fullListIfExpired: false });
  await assert.rejects(pager.list({}), /410/);
  const first = new Numbers(21);
  first.expired = 1;
  await assert.rejects(new ListPager(first.page).list({}), /410/);
  assert.equal(first.calls.length, 1);
});

test('Each item is visited once, in order', async () => {
  for (const total of [0, 9, 10, 11, 21]) {
    const seen: number[] = [];
    await new ListPager(new Numbers(total).page, { pageSize: 10 }).eachListItem({}, (item) =>
      seen.push(item),
    );
    assert.deepEqual(seen, upTo(total));
  }
});

test('Visiting ends with the error of a page after the items before it, without a list of everything', async () => {
  const source = new Numbers(21);
  source.expired = 2;
  const seen: number[] = [];
  await assert.rejects(
    new ListPager(source.page, { pageSize: 10 }).eachListItem({}, (item) => seen.push(item)),
    /410/,
  );
  assert.deepEqual(seen, upTo(10));
  assert.equal(source.calls.length, 2);
});

test('Visiting ends at once when the visitor throws, and after the page when it is aborted', async () => {
  for (const isAborted of [false, true]) {
    const controller = new AbortController();
    const seen: number[] = [];
    const visiting = new ListPager(new Numbers(21).page, { pageSize: 10 }).eachListItem(
      {},
      (item) => {
        seen.push(item);
        if (item !== 2) return;
        if (!isAborted) throw new Error('enough');
        controller.abort(new Error('enough'));
      },
      { signal: controller.signal },
    );
    await assert.rejects(visiting, /enough/);
    assert.equal(seen.length, isAborted ? 10 : 3);
  }
});

test('Fetching runs ahead by the pages that the buffer holds, and one more', async () => {
  for (const [pageBufferSize, expected] of [
    [0, 2],
    [1, 3],
    [10, 5],
  ] as const) {
    const source = new Numbers(50);
    let release: () => void = () => undefined;
    const seen: number[] = [];
    const visiting = new ListPager(source.page, { pageSize: 10, pageBufferSize }).eachListItem({}, (item) => {
      seen.push(item);
      return item === 9 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
    });
    await settle();
    assert.equal(source.calls.length, expected);
    release();
    await visiting;
    assert.deepEqual(seen, upTo(50));
  }
  assert.throws(() => new ListPager(new Numbers(1).page, { pageBufferSize: -1 }), {
    code: 'ERR_KUBELOOM_OPTION',
  });
});

test('A server that repeats a token is an error, not an endless list', async () => {
  const page = (): Promise<KubeList<number>> =>
    Promise.resolve({ metadata: { continue: 'same' }, items: [1] });
  await assert.rejects(new ListPager(page).list({}), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
});
