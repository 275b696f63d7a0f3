/**
 * The embedded apiserver's own semantics suite, against a real kube-apiserver, so that the embedded one stays
 * faithful, and against a mirror of it.
 */
import { after } from 'node:test';
import { MirroredServer } from '../semantics/mirrored-server.ts';
import { apiServerSemantics } from '../semantics/suite.ts';
import type { Target } from '../semantics/target.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

let starting: Promise<ControlPlane> | undefined;
let mirroring: Promise<MirroredServer> | undefined;

async function target(): Promise<Target> {
  starting ??= startControlPlane();
  const controlPlane = await starting;
  return {
    url: controlPlane.server,
    token: controlPlane.token,
    ca: Buffer.from(controlPlane.caData, 'base64').toString('utf8'),
    forgetHistory: async () => void (await controlPlane.compact()),
  };
}

async function mirrored(): Promise<Target> {
  mirroring ??= target().then((origin) => MirroredServer.start(origin));
  return (await mirroring).target;
}

after(async () => {
  await (await mirroring)?.[Symbol.asyncDispose]();
  await (await starting)?.stop();
});

apiServerSemantics(target, 'kube-apiserver');
apiServerSemantics(mirrored, 'a mirror of kube-apiserver');
