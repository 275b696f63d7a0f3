/**
 * The check whether a load test may write to a cluster. Without `--yes` it writes only to a throwaway cluster on this
 * machine's loopback: a cluster of kind, or a server of kubeloom such as that of `kubeloom apiserver`.
 *
 * Loopback is an address, never a name: `localhost.example` may resolve to another machine a second later. A context's
 * name is not a proof either: a production cluster can be called `kind-prod`.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { isLoopbackHost } from '../../../base/loopback.ts';
import { currentTarget } from '../../../http/credentials/kubeconfig.ts';
import { escapeControls } from '../../../base/printable.ts';

export interface LoadTestTarget {
  readonly context: string;
  readonly cluster: string;
  readonly server: string;
  readonly user: string;
  readonly hasProxy: boolean;
}

const THROWAWAY_CONTEXT = /^(?:kind|kubeloom)-./;

export function targetOf(kubeConfig: AnyKubeConfig): LoadTestTarget {
  const context = kubeConfig.getCurrentContext();
  const { cluster, user } = currentTarget(kubeConfig);
  const { name, server, proxyUrl } = cluster;
  return { context, cluster: name, server, user: user.name, hasProxy: Boolean(proxyUrl) };
}

/** Returns the text that is printed before the first request, so that the user can interrupt. */
export function targetText({ context, cluster, server, user }: LoadTestTarget): string {
  return `context ${context}: cluster ${cluster} at ${server}, user ${user}`
    .split('\n')
    .map(escapeControls)
    .join(' ');
}

/** @throws ERR_KUBELOOM_LOADTEST_REFUSED unless it is known to be a throwaway cluster or `--yes` is given */
export function checkTarget(target: LoadTestTarget, isAllowed: boolean): void {
  if (isAllowed || isThrowaway(target)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_LOADTEST_REFUSED',
    `nothing was sent: ${targetText(target)} is not known to be a throwaway cluster (a context kind-… or kubeloom-… whose server ` +
      'is a loopback address); add --yes to write to it anyway',
  );
}

function isThrowaway({ context, server, hasProxy }: LoadTestTarget): boolean {
  return !hasProxy && THROWAWAY_CONTEXT.test(context) && isLoopback(server);
}

function isLoopback(server: string): boolean {
  if (!URL.canParse(server)) return false;
  const { hostname } = new URL(server);
  return hostname !== 'localhost' && isLoopbackHost(hostname);
}
