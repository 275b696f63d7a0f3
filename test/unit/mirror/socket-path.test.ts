/** The file of a Unix socket, before a mirror listens on it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { freeSocketPath } from '../../../src/mirror/socket-path.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';

const REFUSED = { code: 'ERR_KUBELOOM_USAGE' };

describe('the path of a Unix socket', () => {
  it('is free when there is no file', async () => {
    await using folder = new TemporaryFolder();
    await freeSocketPath(folder.file('mirror.sock'));
  });

  it('is freed when nothing listens on the socket that is there', async () => {
    await using folder = new TemporaryFolder();
    const path = folder.file('mirror.sock');
    const server = createServer().listen(folder.file('before'));
    await once(server, 'listening');
    // The server removes its file by name when it closes, so the renamed one stays, as after a crash.
    renameSync(folder.file('before'), path);
    server.close();
    await once(server, 'close');
    assert.ok(existsSync(path));
    await freeSocketPath(path);
    assert.ok(!existsSync(path));
  });

  it('is refused when a server listens on it, and stays', async () => {
    await using folder = new TemporaryFolder();
    const path = folder.file('mirror.sock');
    const server = createServer().listen(path);
    try {
      await once(server, 'listening');
      await assert.rejects(freeSocketPath(path), { ...REFUSED, message: /another process listens/ });
      assert.ok(existsSync(path));
    } finally {
      server.close();
      await once(server, 'close');
    }
  });

  it('is refused when it is a file, too long, or in no folder', async () => {
    await using folder = new TemporaryFolder();
    const file = folder.write('file', 'text');
    for (const path of [file, '', folder.file('x'.repeat(120)), `${file}/mirror.sock`]) {
      await assert.rejects(freeSocketPath(path), REFUSED, path);
    }
    assert.ok(existsSync(file));
  });
});
