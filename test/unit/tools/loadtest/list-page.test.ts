/** Pages of lists, whatever the server answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiClient } from '../../../../src/http/api-client.ts';
import { partitions } from '../../../../src/tools/cli/partitions.ts';
import { readCluster } from '../../../../src/tools/cli/types/sources.ts';
import { listPage } from '../../../../src/tools/loadtest/process/list-page.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { serve } from '../../http/recording-sink.ts';

const { signal } = new AbortController();
const WRONG = ['null', '5', '[]', '{"items":[null]}', '{"items":{}}', '{"items":[{"metadata":{"name":5}}]}'];

test('an answer that is no list of objects is an error with a code, in each command that lists', async (context) => {
  let body = '';
  const server = await serve(context, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(body);
  });
  await using folder = new TemporaryFolder();
  const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'c', users: [] };
  const clusters = [{ name: 'c', cluster: { server } }];
  const contexts = [{ name: 'c', context: { cluster: 'c' } }];
  const kubeconfig = folder.write('kubeconfig', JSON.stringify({ ...config, clusters, contexts }));
  const malformed = { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' };
  for (body of WRONG) {
    await assert.rejects(listPage(new ApiClient({ server }), '/a', signal), malformed, body);
    await assert.rejects(partitions('g', { kubeconfig }, signal), malformed, body);
    await assert.rejects(readCluster([], { kubeconfig }, signal), malformed, body);
  }
  body = '{"items":null}';
  assert.deepEqual(await listPage(new ApiClient({ server }), '/a', signal), { items: [], next: '' });
  body = '{"metadata":{"continue":"t"},"items":[{"metadata":{"name":"a"}}]}';
  assert.equal((await listPage(new ApiClient({ server }), '/a', signal)).next, 't');
});
