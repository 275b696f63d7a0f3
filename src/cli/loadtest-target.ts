/**
 * May a load test write there? Without `--yes` only into a cluster that was made to be thrown away: one of kind,
 * or the server of our end-to-end tests, on this machine's loopback.
 *
 * Loopback is an address, never a name: what `localhost.example` resolves to may be somebody else a second later.
 * A context's name alone proves nothing either: anybody can call a production cluster `kind-prod`.
 */
import { isIPv4 } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import { escapeControls } from './terminal-text.ts';

export interface LoadTestTarget {
  readonly context: string;
  readonly cluster: string;
  readonly server: string;
  readonly user: string;
  readonly hasProxy: boolean;
}

const THROWAWAY_CONTEXT = /^(kind-.+|kubeloom-e2e)$/;

export function targetOf(kubeConfig: KubeConfig): LoadTestTarget {
  const context = kubeConfig.getCurrentContext();
  const cluster = kubeConfig.getCurrentCluster();
  return {
    context,
    cluster: cluster?.name ?? '',
    server: cluster?.server ?? '',
    user: kubeConfig.getCurrentUser()?.name ?? '',
    hasProxy: Boolean(cluster?.proxyUrl),
  };
}

/** Printed before anything is sent, so that it can be interrupted. */
export function targetText({ context, cluster, server, user }: LoadTestTarget): string {
  return `context ${context}: cluster ${cluster} at ${server}, user ${user}`
    .split('\n')
    .map(escapeControls)
    .join(' ');
}

/** @throws ERR_KUBELOOM_LOADTEST_REFUSED when it is not known to be a throwaway cluster and nobody said yes */
export function wantTarget(target: LoadTestTarget, isAllowed: boolean): void {
  if (isAllowed || isThrowaway(target)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_LOADTEST_REFUSED',
    `nothing was sent: ${targetText(target)} is not known to be a throwaway cluster (a context kind-… whose server ` +
      'is a loopback address); --yes writes to it all the same',
  );
}

function isThrowaway({ context, server, hasProxy }: LoadTestTarget): boolean {
  return !hasProxy && THROWAWAY_CONTEXT.test(context) && isLoopback(server);
}

function isLoopback(server: string): boolean {
  if (!URL.canParse(server)) return false;
  const { hostname } = new URL(server);
  return hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}
