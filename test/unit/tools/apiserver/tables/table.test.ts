/** Tables over HTTP: what kubectl prints. The commands of `test/e2e/kubectl` compare the cells with a real server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../../../semantics/client.ts';
import type { Body } from '../../../../semantics/client.ts';
import { ok, refused } from '../../../../semantics/fixture.ts';

const ACCEPT = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const MAPS = '/api/v1/namespaces/default/configmaps';

interface Table {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions: readonly { readonly name: string; readonly description: string }[] | null;
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Body | null }[];
}

function tableIn(body: unknown): Table {
  return body as Table;
}

describe('a table', () => {
  let server: EmbeddedApiServer;
  let client: Client;

  before(async () => {
    server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
    client = new Client({ url: server.url, token: '', ca: '' });
    for (const name of ['a', 'b']) ok(await client.post(MAPS, { metadata: { name }, data: { one: '1' } }));
  });
  after(() => server.close());

  const get = async (path: string): Promise<Table> => tableIn(ok(await client.get(path, { accept: ACCEPT })));

  it('of a list has the columns of the kind, a row for each object, and the metadata of the list', async () => {
    const { kind, columnDefinitions, rows, metadata } = await get(`${MAPS}?limit=1`);
    assert.equal(kind, 'Table');
    assert.deepEqual(
      columnDefinitions?.map(({ name }) => name),
      ['Name', 'Data', 'Age'],
    );
    assert.match(columnDefinitions?.[0]?.description ?? '', /unique within a namespace/);
    assert.deepEqual(rows[0]?.cells.slice(0, 2), ['a', 1]);
    assert.match(rows[0]?.cells[2] as string, /^\d+s$/);
    assert.notEqual(metadata.continue, undefined);
  });

  it('contains metadata, whole objects or none', async () => {
    const rowOf = async (query: string): Promise<Body | null | undefined> =>
      (await get(`${MAPS}/a${query}`)).rows[0]?.object;
    assert.equal((await rowOf(''))?.kind, 'PartialObjectMetadata');
    assert.deepEqual((await rowOf('?includeObject=Object'))?.data, { one: '1' });
    assert.equal(await rowOf('?includeObject=None'), null);
    const answer = await client.get(`${MAPS}/a?includeObject=All`, { accept: ACCEPT });
    refused(
      answer,
      400,
      /includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty/,
    );
  });

  it('of each event of a watch has its columns in the first event only', async () => {
    const stream = await client.watch(
      `${MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      ACCEPT,
    );
    const events = await stream.take(3);
    stream.close();
    const tables = events.map(({ object }) => tableIn(object));
    assert.deepEqual(
      tables.map(({ columnDefinitions }) => columnDefinitions?.length ?? null),
      [3, null, null],
    );
    assert.deepEqual(
      tables.map(({ rows }) => rows[0]?.cells[0]),
      ['a', 'b', ''],
    );
    assert.equal(events[2]?.type, 'BOOKMARK');
  });

  it('of a custom kind has the columns of the definition, or name and age', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const columns = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Colours', type: 'string', jsonPath: '.spec.colours', description: 'All of them' },
      { name: 'Wrong', type: 'boolean', jsonPath: '.spec.size' },
      { name: 'Since', type: 'date', jsonPath: '.spec.since' },
    ];
    const define = async (plural: string, additionalPrinterColumns?: object): Promise<void> => {
      const version = { name: 'v1', served: true, storage: true, schema, additionalPrinterColumns };
      const spec = {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural, kind: plural },
        versions: [version],
      };
      const definition = { metadata: { name: `${plural}.example.com` }, spec };
      ok(await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
      const object = { size: 2, colours: ['red'], since: 'never' };
      const body = { apiVersion: 'example.com/v1', kind: plural, metadata: { name: 'x' }, spec: object };
      ok(await client.post(`/apis/example.com/v1/${plural}`, body));
    };
    await define('shown', columns);
    const { columnDefinitions, rows } = await get('/apis/example.com/v1/shown');
    assert.deepEqual(rows[0]?.cells, ['x', 2, '["red"]', null, '<invalid>']);
    assert.deepEqual(
      columnDefinitions?.slice(1, 3).map(({ description }) => description),
      ['Custom resource definition column (in JSONPath format): .spec.size', 'All of them'],
    );
    await define('plain');
    assert.deepEqual((await get('/apis/example.com/v1/plain')).rows[0]?.cells.slice(0, 1), ['x']);
  });
});
