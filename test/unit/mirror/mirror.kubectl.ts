/** The real kubectl against a mirror: `npm run kubectl`. Takes `kubectl` from the path or from $KUBECTL. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { kubeConfigOf, kubeConfigYaml } from '../../../src/apiserver/kubeconfig.ts';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { resources } from '../../../src/index.ts';
import { Mirror } from '../../../src/mirror/mirror.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { received } from './scene.ts';

const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const run = promisify(execFile);

describe('kubectl', () => {
  it('lists, pages and watches through a mirror, and prints why a write is refused', async () => {
    await using origin = await startEmbeddedApiServer({ tls: false, isolation: 'none' });
    await origin.populate({ count: 20 });
    await using folder = new TemporaryFolder();
    const { pods } = resources.core.v1;
    await using mirror = new Mirror({
      source: origin.connection,
      resources: [pods],
      address: { port: 0, token: 'the-token' },
      onError: () => {},
    });
    const endpoint = await mirror.start();
    const KUBECONFIG = folder.write('kubeconfig', kubeConfigYaml(kubeConfigOf(endpoint)));
    const env = { ...process.env, HOME: folder.path, KUBECONFIG };
    await received(endpoint, origin, pods);

    const names = (await run(KUBECTL, ['get', 'po', '-A', '--chunk-size=5', '-o', 'name'], { env })).stdout;
    assert.equal(names.trim().split('\n').length, 20);
    const [name = ''] = names.trim().split('\n')[0]?.split('/').slice(1) ?? [];
    await assert.rejects(run(KUBECTL, ['delete', 'pod', name, '-n', 'team-0'], { env }), /read-only mirror/);

    const watching = spawn(KUBECTL, ['get', 'pods', '-A', '-w', '-o', 'name'], { env });
    try {
      const object = { metadata: { name: 'late', namespace: 'team-0' } };
      const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
      const first = await lines.next();
      await origin.apply([{ type: 'create', resource: 'pods', object }]);
      let line = first;
      while (line.done !== true && line.value !== 'pod/late') line = await lines.next();
      assert.equal(line.value, 'pod/late');
    } finally {
      watching.kill();
    }
  });
});
