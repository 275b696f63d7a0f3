/** Files that are no files: a kubeconfig and credentials are read once, and nothing blocks the thread for ever. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectionFor, loadKubeConfig } from '../../../src/http/credentials/credentials.ts';
import { UnusableFile, readSmallFile } from '../../../src/http/credentials/read-file.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { SERVER_KEY } from './certificates.ts';
import { file, folder } from './credentials-scene.ts';

const WRITER = { stdio: 'ignore' } as const;
let pipes = 0;

function pipe(): string {
  const path = join(folder, `pipe-${++pipes}`);
  execFileSync('mkfifo', [path]);
  return path;
}

/** Returns a clock whose every reading is a second later. */
function fastClock(): { readonly now: () => number } {
  let now = 0;
  return { now: () => (now += 1000) };
}

test('C251 a kubeconfig is read from a pipe to its end', () => {
  const path = pipe();
  const text = `clusters: [{name: c, cluster: {server: 'https://h'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n# ${'x'.repeat(200_000)}\n`;
  const writer = spawn('sh', ['-c', `cat '${file(text)}' > '${path}'`], WRITER);
  assert.equal(loadKubeConfig({ path }).getCurrentContext(), 'x');
  writer.kill();
});

test('C251 a pipe without a writer, and one that never ends, are given up', () => {
  assert.throws(
    () => readSmallFile(pipe(), { isPipeAllowed: true, clock: fastClock() }),
    /did not end within 5 s/,
  );
  const endless = pipe();
  const writer = spawn('sh', ['-c', `exec 3> '${endless}'; exec sleep 600`], WRITER);
  assert.throws(() => readSmallFile(endless, { isPipeAllowed: true, clock: fastClock() }), UnusableFile);
  writer.kill();
});

test('C251 a token, certificate, key or CA that is a pipe, a device or a folder is refused at once', async () => {
  for (const path of [pipe(), '/dev/zero', folder]) {
    const keyFile = file(SERVER_KEY);
    for (const config of [
      kubeConfigFor('https://h', { tokenFile: path }),
      kubeConfigFor('https://h', { certFile: path, keyFile }),
      kubeConfigFor('https://h', { certFile: keyFile, keyFile: path }),
      kubeConfigFor('https://h', { token: 't' }, { caFile: path }),
    ]) {
      await assert.rejects(connectionFor(config), {
        code: 'ERR_KUBELOOM_CREDENTIALS',
        message: /is not a regular file|is a directory/,
      });
    }
  }
});

test('C251 a device and a file that grows beyond the limit are not read to their end', () => {
  assert.throws(() => loadKubeConfig({ path: '/dev/zero' }), {
    code: 'ERR_KUBELOOM_KUBECONFIG',
    message: /\/dev\/zero is not a regular file/,
  });
  const path = file('x'.repeat(100));
  assert.throws(() => readSmallFile(path, { bytesMax: 99 }), /has 100 bytes: too large/);
  const long = pipe();
  const writer = spawn('sh', ['-c', `exec cat /dev/zero > '${long}'`], WRITER);
  assert.throws(
    () => readSmallFile(long, { bytesMax: 100_000, isPipeAllowed: true }),
    /more than 100000 bytes/,
  );
  writer.kill();
});
