/** The read-only server of metrics, over a port and over a socket file. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';

import { serveStats } from '../../../src/metrics/serve-stats.ts';
import { rememberError } from '../../../src/metrics/snapshot.ts';
import type { StatsSnapshot } from '../../../src/metrics/snapshot.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';

async function ask(address: string, options: RequestOptions): Promise<{ status: number; body: string }> {
  const to = address.startsWith('http')
    ? { host: '127.0.0.1', port: new URL(address).port }
    : { socketPath: address };
  const sent = request({ ...to, ...options, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

describe('serveStats', () => {
  test('answers scrapes and snapshots over a port of 127.0.0.1', async () => {
    await using server = await serveStats({ port: 0 });
    assert.match(server.address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(await ask(server.address, { path: '/metrics' }), { status: 200, body: '' });
    rememberError({ atMs: 1, informer: 'pods', code: 'ERR_KUBELOOM_TLS', message: 'no' });
    const { body } = await ask(server.address, { path: '/stats.json' });
    const { families, errors } = JSON.parse(body) as StatsSnapshot;
    assert.deepEqual(families, []);
    assert.deepEqual(errors, [{ atMs: 1, informer: 'pods', code: 'ERR_KUBELOOM_TLS', message: 'no' }]);
  });

  test('answers over a socket file, and removes it at its end', async () => {
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('stats.sock');
    const server = await serveStats({ socketPath });
    assert.equal((await ask(socketPath, { path: '/metrics' })).status, 200);
    await server.close();
    await assert.rejects(ask(socketPath, { path: '/metrics' }), { code: 'ENOENT' });
  });

  test('replaces the socket of a process that was killed, for its user only, and takes none that is alive', async () => {
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('stats.sock');
    const dying = `require('node:net').createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', dying]);
    assert.ok(lstatSync(socketPath).isSocket());
    await using server = await serveStats({ socketPath });
    assert.equal((await ask(server.address, { path: '/metrics' })).status, 200);
    assert.equal(lstatSync(socketPath).mode & 0o777, 0o600);
    await assert.rejects(serveStats({ socketPath }), { code: 'EADDRINUSE' });
    const file = folder.write('a-file', 'kept');
    await assert.rejects(serveStats({ socketPath: file }), { code: 'EADDRINUSE' });
    assert.equal(readFileSync(file, 'utf8'), 'kept');
  });

  test('refuses other methods, other paths, and other host names than those of this machine', async () => {
    await using server = await serveStats({ port: 0 });
    const statuses = await Promise.all([
      ask(server.address, { path: '/metrics', method: 'POST' }),
      ask(server.address, { path: '/' }),
      ask(server.address, { path: '/metrics', headers: { host: 'attacker.example:80' } }),
      ask(server.address, { path: '/metrics', headers: { host: '[::1]:80' } }),
    ]);
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [405, 404, 403, 200],
    );
  });

  test('refuses wrong options, and rejects when the port is in use', async () => {
    const code = 'ERR_KUBELOOM_OPTION';
    await assert.rejects(serveStats({}), { code, message: /either a port or a socketPath/ });
    await assert.rejects(serveStats({ port: -1 }), { code });
    await using server = await serveStats({ port: 0 });
    await assert.rejects(serveStats({ port: Number(new URL(server.address).port) }), { code: 'EADDRINUSE' });
  });
});
