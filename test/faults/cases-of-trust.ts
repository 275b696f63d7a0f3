/** Cases about servers with a wrong certificate, and about certificates that are rotated under a load. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import {
  CA,
  EXPIRED_CERTIFICATE,
  OTHER_CA,
  OTHER_NAME_CERTIFICATE,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../unit/http/certificates.ts';
import { createCertificates } from '../../src/tools/apiserver/wire/certificates.ts';
import { RESET, UNREACHABLE, onlyWatches } from '../sim/faults/strikes.ts';
import type { TlsFiles } from './chaos-proxy-process.ts';
import type { RealCase, Scene } from './scene.ts';

const UNTRUSTED = 'ERR_KUBELOOM_TLS';
/** Variable that turns off Node's checks unless the client sets its own. */
const SWITCH = 'NODE_TLS_REJECT_UNAUTHORIZED';
const GOOD: TlsFiles = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };

export const CASES_OF_TRUST: readonly RealCase[] = [
  {
    id: '44a',
    place: 'sockets',
    what: `a certificate that has expired, is for another name, or is signed by another CA, with ${SWITCH}=0`,
    expected: 'rejected, each with its reason; resumes without a list when the right one is back',
    codes: [UNTRUSTED],
    mayReport: [UNREACHABLE, RESET],
    hasProxy: true,
    proxyTls: { ...GOOD, ca: CA },
    // In this thread: other threads keep the environment of their start.
    threads: { indexerThreads: 0 },
    run: wrongCertificates,
  },
  {
    id: '44b',
    place: 'sockets',
    what: 'leaf, then CA and leaf are rotated under the load, the file of the CA first',
    expected: 'the file is read for every request: resumes without a list',
    mayReport: [UNREACHABLE, RESET],
    hasProxy: true,
    proxyTls: { ...GOOD, ca: CA },
    isStartedLater: true,
    run: rotation,
  },
];

async function wrongCertificates(scene: Scene): Promise<string> {
  const stranger = createCertificates('127.0.0.1');
  const wrong: readonly (readonly [tls: TlsFiles, reason: RegExp])[] = [
    [{ cert: EXPIRED_CERTIFICATE, key: SERVER_KEY }, /CERT_HAS_EXPIRED/],
    [{ cert: OTHER_NAME_CERTIFICATE, key: SERVER_KEY }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    [{ cert: stranger.certificate, key: stranger.privateKey }, /not signed by the CA/],
  ];
  const before = process.env[SWITCH];
  process.env[SWITCH] = '0';
  try {
    for (const [tls, reason] of wrong) {
      await showing(scene, tls);
      const isSaid = (): boolean =>
        scene.errors.some(({ code, message }) => code === UNTRUSTED && reason.test(message));
      await scene.until(isSaid, `${reason.source} is reported`);
      assert.equal((await scene.requests()).length, 0, 'no request was sent to an untrusted server');
    }
    await showing(scene, GOOD);
    await scene.untilReceived(50);
  } finally {
    if (before === undefined) delete process.env[SWITCH];
    else process.env[SWITCH] = before;
  }
  return `three refusals: ${await onlyWatches(scene)}`;
}

async function rotation(scene: Scene): Promise<string> {
  const folder = scene.folder();
  const caFile = folder.file('ca.crt');
  const trust = (ca: string): void => renameSync(folder.write('ca.crt.new', ca), caFile);
  trust(CA);
  scene.trust({ caFile });
  await scene.startInformer();
  await scene.mark();
  const [second, third] = [createCertificates('127.0.0.1'), createCertificates('127.0.0.1')];
  for (const { ca, certificate, privateKey } of [second, third]) {
    // The next CA is trusted before a server uses it; existing connections continue.
    trust(`${OTHER_CA}${ca}`);
    const { length: shown } = await scene.requests();
    await showing(scene, { cert: certificate, key: privateKey });
    await scene.untilResumed(shown);
    trust(ca);
    const { length: trusted } = await scene.requests();
    await scene.proxy.reset();
    await scene.untilResumed(trusted);
  }
  return onlyWatches(scene);
}

/** Uses the certificate for new connections, and closes all existing ones. */
async function showing(scene: Scene, tls: TlsFiles): Promise<void> {
  await scene.proxy.refuse();
  await scene.proxy.accept(tls);
  scene.own.push('certificate');
}
