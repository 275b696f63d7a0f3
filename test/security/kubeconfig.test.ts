/** Kubeconfigs that are attacks or accidents: a precise error, quickly, and never another kubeconfig instead. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connectionFor, loadKubeConfig } from '../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from './bare-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeloom-kubeconfig-'));
after(() => rmSync(folder, { recursive: true }));

const GOOD = `
clusters: [{name: c, cluster: {server: 'https://h:6443', certificate-authority: ca.crt}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

function file(content: string | Buffer): string {
  const path = join(folder, 'config');
  writeFileSync(path, content);
  return path;
}

function rejects(content: string | Buffer, message: RegExp): void {
  assert.throws(() => loadKubeConfig({ path: file(content) }), { code: 'ERR_KUBELOOM_KUBECONFIG', message });
}

/** A document of a billion strings after expansion. */
function aliasBomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level++) {
    lines.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  return lines.join('\n');
}

test('C194 an alias bomb is not expanded: beside a good kubeconfig it is skipped, instead of one it is refused', () => {
  const config = loadKubeConfig({ path: file(`${aliasBomb()}\n${GOOD}`) });
  assert.equal(config.getCurrentContext(), 'x');
  for (const member of ['users', 'clusters', 'contexts', 'current-context']) {
    rejects(
      `${aliasBomb()}\n${member}: *a9`,
      /cannot be used|no current context|is no kubeconfig|no context/,
    );
  }
});

test('C194 a file of 50 MB is refused before it is read, and so is one of brackets alone', () => {
  rejects(Buffer.alloc(50_000_000, ' '), /has 50000000 bytes: too large/);
  rejects('['.repeat(100_000), /cannot be used/);
});

test('a byte order mark is not part of the text, and selects UTF-16, which kubectl also reads', () => {
  const littleEndian = Buffer.from(`\ufeff${GOOD}`, 'utf16le');
  for (const content of [`\ufeff${GOOD}`, littleEndian, Buffer.from(littleEndian).swap16()]) {
    assert.equal(loadKubeConfig({ path: file(content) }).getCurrentContext(), 'x');
  }
  rejects(littleEndian.subarray(2), /no text in UTF-8: save it as UTF-8/);
});

test('C194 YAML cannot make anything but data', () => {
  rejects(`current-context: !!js/function 'function () {}'\n${GOOD}`, /not valid YAML/);
  rejects(`a: !!js/regexp /x/\n${GOOD}`, /not valid YAML/);
  loadKubeConfig({
    path: file(`__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\n${GOOD}`),
  });
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test('C194 relative paths are beside the file, whatever the working directory is', async () => {
  writeFileSync(join(folder, 'token'), 'beside\n');
  writeFileSync(join(folder, 'ca.crt'), 'a CA');
  const connection = await connectionFor(loadKubeConfig({ path: file(GOOD) }));
  assert.deepEqual([connection.headers['authorization'], connection.ca], ['Bearer beside', 'a CA']);
  const gone = GOOD.replace('ca.crt', 'gone.crt');
  await assert.rejects(connectionFor(loadKubeConfig({ path: file(gone) })), {
    code: 'ERR_KUBELOOM_CREDENTIALS',
    message: /gone\.crt/,
  });
});

test('without a CA the system’s are used and verification stays on', async () => {
  const connection = await connectionFor(kubeConfigFor('https://h', { token: 't' }));
  assert.deepEqual([connection.ca, connection.rejectUnauthorized], [undefined, true]);
});

test('a token takes precedence over a plugin, and a token file over a token', async () => {
  const exec = {
    command: '/bin/false',
    apiVersion: 'client.authentication.k8s.io/v1',
    interactiveMode: 'Never',
  };
  const { headers } = await connectionFor(kubeConfigFor('https://h', { token: 'mine', exec }));
  assert.equal(headers['authorization'], 'Bearer mine');
});

test('a legacy provider that needs a program is an error that names it', async () => {
  for (const name of ['gcp', 'azure', 'unknown']) {
    const asked = connectionFor(kubeConfigFor('https://h', { authProvider: { name, config: {} } }));
    const outcome = await asked.then(
      ({ headers }) => headers,
      (error: { code: string }) => error.code,
    );
    assert.equal(outcome, 'ERR_KUBELOOM_CREDENTIALS', `${name}: ${JSON.stringify(outcome)}`);
  }
});
