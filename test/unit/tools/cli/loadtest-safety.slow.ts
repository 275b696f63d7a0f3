/** The load test when something goes wrong: faults of a watch, too much for its limits. Interruptions are in test/e2e. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { EditingProxy, doublingOne, droppingOne, reorderingTwo } from '../../../kit/editing-proxy.ts';
import type { Edit } from '../../../kit/editing-proxy.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { runCommand } from './command.ts';

const ONE_WATCHER = `seed: 12
objects: [{ kind: ConfigMap, count: 5 }]
watchers: [{ name: watcher }]
phases: [create: {}, sync: {}, steady: { for: 600ms, rate: 100, mix: { update: 1 } }]
`;

interface Scene extends AsyncDisposable {
  readonly proxy: EditingProxy;
  argumentsOf(workload: string): string[];
}

async function startScene(): Promise<Scene> {
  const server = await startEmbeddedApiServer({ tls: false, token: 'secret' });
  const proxy = await EditingProxy.start({ server: server.url, token: 'secret' });
  const folder = new TemporaryFolder();
  const kubeconfig = folder.write('kubeconfig', proxy.kubeConfig);
  return {
    proxy,
    argumentsOf: (workload) => [
      'loadtest',
      folder.write('workload.yaml', workload),
      '--kubeconfig',
      kubeconfig,
    ],
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

describe('a watch with a fault', () => {
  const FAULTS: readonly (readonly [fault: string, client: string, edit: () => Edit, words: RegExp])[] = [
    ['drops an event', 'raw', droppingOne, /59 delivered, 1 lost, 0 duplicated, 0 reordered/],
    ['drops an event', 'client-node', droppingOne, /59 delivered, 1 lost, 0 duplicated, 0 reordered/],
    ['repeats an event', 'raw', doublingOne, /60 delivered, 0 lost, 1 duplicated, 0 reordered/],
    ['swaps two events', 'raw', reorderingTwo, /60 delivered, 0 lost, 0 duplicated, 1 reordered/],
    ['drops an event', 'informer', droppingOne, /59 delivered, 1 lost, 0 duplicated, 0 reordered/],
    ['swaps two events', 'informer', reorderingTwo, /60 delivered, 0 lost, 0 duplicated, 1 reordered/],
  ];
  async function runWith(edit: () => Edit, client: string): Promise<Ended> {
    await using scene = await startScene();
    // The first watch is the reference informer's.
    scene.proxy.editOf = (watch) => (watch === 1 ? edit() : undefined);
    return await runCommand([...scene.argumentsOf(ONE_WATCHER), '--client', client]);
  }

  for (const [fault, client, edit, words] of FAULTS) {
    it(`that ${fault} fails the run of a client ${client}, in these words: ${words.source}`, async () => {
      const { exitCode, stdout } = await runWith(edit, client);
      assert.match(stdout, new RegExp(`\\nFAIL:\\n {2}watcher: ${words.source}`));
      assert.equal(exitCode, 1);
    });
  }

  it('that repeats an event is a fault that an informer hides', async () => {
    const { exitCode, stdout } = await runWith(doublingOne, 'informer');
    assert.notEqual(exitCode, 1, stdout);
    assert.match(stdout, /^watcher .* 60 +0 +0 +0 +0 +yes/m);
  });
});

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
}

describe('a workload above its limits', () => {
  const LIMITED: readonly (readonly [what: string, workload: string, message: RegExp])[] = [
    [
      'objects',
      'objects: [{ kind: ConfigMap, count: 11 }]\nphases: [create: {}]\nlimits: { objects: 10 }\n',
      /1:10 objects: 11 objects are more than limits.objects, which is 10/,
    ],
    [
      'objects that are created twice',
      'objects: [{ kind: ConfigMap, count: 6 }]\nphases: [create: {}, create: {}]\nlimits: { objects: 10 }\n',
      /1:10 objects: 12 objects are more than limits.objects, which is 10/,
    ],
    [
      'the rate of a phase',
      'objects: [{ kind: ConfigMap, count: 1 }]\nphases: [steady: { for: 1s, rate: { from: 1, to: 9 } }]\nlimits: { rate: 8 }\n',
      /rate: 9 a second is more than limits.rate, which is 8/,
    ],
    [
      'the rate of creations',
      'objects: [{ kind: ConfigMap, count: 1 }]\nphases: [create: { rate: 2001 }]\n',
      /rate: 2001 a second is more than limits.rate, which is 2000/,
    ],
  ];
  for (const [what, workload, message] of LIMITED) {
    it(`is refused before anything is sent: ${what}`, async () => {
      await using scene = await startScene();
      const { exitCode, stderr } = await runCommand([...scene.argumentsOf(workload), '--yes']);
      assert.equal(exitCode, 1);
      assert.match(stderr, message);
      assert.deepEqual(scene.proxy.requests, []);
    });
  }
});
