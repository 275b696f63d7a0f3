/** Ctrl-C during a wait for a server: a command that runs until it is stopped has done its work, and any other one was interrupted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun } from './command.ts';

/** A server that accepts connections and never answers, and its kubeconfig. */
async function silentServer(
  folder: TemporaryFolder,
): Promise<{ readonly kubeconfig: string; readonly connected: Promise<unknown> } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  const connected = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeconfig = folder.write(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'silent', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'nobody', user: {} }],
      contexts: [{ name: 'kind-silent', context: { cluster: 'silent', user: 'nobody' } }],
      'current-context': 'kind-silent',
    }),
  );
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { kubeconfig, connected, [Symbol.asyncDispose]: close };
}

describe('Ctrl-C ends', () => {
  const waiting: readonly (readonly [code: number, args: readonly string[]])[] = [
    [0, ['watch', 'gizmos.example.com']],
    [0, ['top', 'gizmos.example.com']],
    [130, ['partitions', 'group']],
    [130, ['types', 'gizmos.example.com']],
  ];
  for (const [code, [name = '', ...args]] of waiting) {
    it(`kubeloom ${name} with ${code} while a server does not answer`, async () => {
      await using folder = new TemporaryFolder();
      await using server = await silentServer(folder);
      const { kubeconfig, connected } = server;
      await using run = new CommandRun([name, ...args, '--kubeconfig', kubeconfig]);
      await Promise.race([connected, run.exitCode]);
      run.kill('SIGINT');
      assert.equal(await run.exitCode, code, run.stderr);
      assert.equal(run.stderr, code === 0 ? '' : 'interrupted\n');
    });
  }

  it('kubeloom partitions with 143 when the signal is SIGTERM', async () => {
    await using folder = new TemporaryFolder();
    await using server = await silentServer(folder);
    await using run = new CommandRun(['partitions', 'group', '--kubeconfig', server.kubeconfig]);
    await Promise.race([server.connected, run.exitCode]);
    run.kill('SIGTERM');
    assert.equal(await run.exitCode, 143, run.stderr);
  });
});
