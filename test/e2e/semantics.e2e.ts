/**
 * The embedded apiserver's own semantics suite, against a real kube-apiserver, so that the embedded one stays
 * faithful.
 */
import { after } from 'node:test';
import { apiServerSemantics } from '../semantics/suite.ts';
import type { Target } from '../semantics/target.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

let starting: Promise<ControlPlane> | undefined;

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

after(async () => {
  await (await starting)?.stop();
});

apiServerSemantics(target, 'kube-apiserver');
