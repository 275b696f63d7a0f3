/** Files that are rotated well and badly: the last good content stays in use, and the failure is reported. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { test } from 'node:test';
import type { KubeloomError } from '../../../src/base/errors.ts';
import { Credentials } from '../../../src/http/credentials/credentials.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { CA, OTHER_CA, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';
import { failure, file, folder } from './credentials-scene.ts';

interface Rotated {
  readonly credentials: Credentials;
  readonly reports: KubeloomError[];
  /** CA, certificate, key, token. */
  readonly now: () => Promise<unknown[]>;
}

function rotated(user: object, cluster: object = {}): Rotated {
  const reports: KubeloomError[] = [];
  const config = kubeConfigFor('https://host', user, cluster);
  const credentials = new Credentials(config, (error) => reports.push(error));
  const now = async (): Promise<unknown[]> => {
    const { ca, cert, key, headers } = await credentials.connection(false);
    return [ca, cert, key, headers['authorization']];
  };
  return { credentials, reports, now };
}

function tokenFileUser(tokenFile: string): object {
  return { authProvider: { name: 'tokenFile', config: { tokenFile } } };
}

test('C187 a token file that is empty, gone, huge or no text keeps the last token, with one report each', async () => {
  const path = file('one');
  const { now, reports } = rotated(tokenFileUser(path));
  const token = async (): Promise<unknown> => (await now()).at(-1);
  assert.equal(await token(), 'Bearer one');
  const bad: [text: string | undefined, message: RegExp][] = [
    ['', /is empty/],
    [' \n', /is empty/],
    ['canary\r\nx-header: y', /holds no token/],
    ['canary'.repeat(200_000), /has 1200000 bytes/],
    [undefined, /ENOENT/],
  ];
  for (const [text, message] of bad) {
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    reports.length = 0;
    for (let request = 0; request < 3; request++) assert.equal(await token(), 'Bearer one');
    assert.ok(reports.length <= 1, 'once while nothing changes');
    const [report] = reports;
    if (text === ' \n') continue;
    assert.ok(report);
    failure('ERR_KUBELOOM_CREDENTIALS_KEPT', message, /canary/)(report);
  }
  writeFileSync(path, 'two\n');
  assert.equal(await token(), 'Bearer two');
});

test('a token file that was never good is an error', async () => {
  for (const text of ['', 'a b', 'x'.repeat(100_000)]) {
    const { now, reports } = rotated(tokenFileUser(file(text)));
    await assert.rejects(now(), { code: 'ERR_KUBELOOM_CREDENTIALS' });
    assert.deepEqual(reports, []);
  }
});

test('C187 a projected volume that swaps its folder by a symbolic link is followed', async () => {
  const volume = join(folder, 'volume');
  const publish = (generation: string): void => {
    mkdirSync(join(volume, generation), { recursive: true });
    writeFileSync(join(volume, generation, 'token'), generation);
    writeFileSync(join(volume, generation, 'ca.crt'), generation === 'first' ? CA : OTHER_CA);
    symlinkSync(generation, join(volume, '..data-new'));
    renameSync(join(volume, '..data-new'), join(volume, '..data'));
  };
  publish('first');
  symlinkSync('..data/token', join(volume, 'token'));
  symlinkSync('..data/ca.crt', join(volume, 'ca.crt'));
  const { now, reports } = rotated(tokenFileUser(join(volume, 'token')), { caFile: join(volume, 'ca.crt') });
  assert.deepEqual(await now(), [CA, undefined, undefined, 'Bearer first']);
  publish('second');
  rmSync(join(volume, 'first'), { recursive: true });
  assert.deepEqual(await now(), [OTHER_CA, undefined, undefined, 'Bearer second']);
  assert.deepEqual(reports, []);
});

test('C187 CA, certificate and key that are empty, garbage, gone or do not belong together keep the last good ones', async () => {
  const [caFile, certFile, keyFile] = [file(CA), file(SERVER_CERTIFICATE), file(SERVER_KEY)];
  const { now, reports } = rotated({ certFile, keyFile, token: 't' }, { caFile });
  const good = [CA, SERVER_CERTIFICATE, SERVER_KEY, 'Bearer t'];
  assert.deepEqual(await now(), good);
  const bad: [path: string, text: string | undefined][] = [
    [caFile, ''],
    [caFile, 'canary'],
    [caFile, CA.slice(0, 200)],
    [caFile, undefined],
    [certFile, ''],
    [certFile, 'canary'],
    [certFile, CA],
    [keyFile, ''],
    [keyFile, 'canary'],
    [keyFile, undefined],
  ];
  for (const [path, text] of bad) {
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    reports.length = 0;
    assert.deepEqual(await now(), good, `${path} ${text}`);
    assert.deepEqual(await now(), good);
    assert.deepEqual(
      reports.map(({ code }) => code),
      ['ERR_KUBELOOM_CREDENTIALS_KEPT'],
      inspect(reports),
    );
    assert.doesNotMatch(inspect(reports, { depth: 9 }), /canary/);
    for (const [restored, original] of [
      [caFile, CA],
      [certFile, SERVER_CERTIFICATE],
      [keyFile, SERVER_KEY],
    ] as const) {
      writeFileSync(restored, original);
    }
    assert.deepEqual(await now(), good);
  }
  writeFileSync(caFile, `${CA}${OTHER_CA}`);
  assert.deepEqual((await now())[0], `${CA}${OTHER_CA}`);
});

test('C187 a broken CA does not keep an old token in use', async () => {
  const [caFile, tokenFile] = [file(CA), file('one')];
  const { now } = rotated(tokenFileUser(tokenFile), { caFile });
  await now();
  writeFileSync(caFile, 'garbage');
  writeFileSync(tokenFile, 'two');
  assert.deepEqual(await now(), [CA, undefined, undefined, 'Bearer two']);
});

test('an error that is not about a file is not hidden', async () => {
  const config = kubeConfigFor('https://host', { token: 't' });
  const credentials = new Credentials(config);
  await credentials.connection(false);
  config.setCurrentContext('gone');
  await assert.rejects(credentials.connection(false), { code: 'ERR_KUBELOOM_KUBECONFIG' });
});
