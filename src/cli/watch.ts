/** `kubeloom watch RESOURCE`: like `kubectl get -w`, from an informer. */
import type { KubeConfig } from '@kubernetes/client-node';
import { Command, Option } from 'commander';
import { SharedIndexInformer, loadKubeConfig } from '../index.ts';
import type { ResourceEventHandler } from '../index.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { findResource } from '../kube/rest-mapper.ts';
import { ApiClient } from '../reflector/api-client.ts';
import { parseThreads } from './arguments.ts';
import { failureText } from './failure.ts';
import { listenForInterruption } from './signals.ts';
import type { Interruption } from './signals.ts';
import { WatchPrinter } from './watch-printer.ts';
import type { OutputFormat } from './watch-printer.ts';

interface WatchFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output?: Exclude<OutputFormat, 'table'>;
  readonly outputWatchEvents?: boolean;
  readonly threads?: number;
  readonly verbose?: boolean;
}

export function watchCommand(): Command {
  return new Command('watch')
    .description('print the objects of a resource, then every change, from an informer')
    .argument('<resource>', 'pods, pod, po, deployments.apps, …')
    .addOption(new Option('-n, --namespace <name>', "default: the context's").conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('-l, --selector <selector>', 'label selector, e.g. app=web,tier!=cache')
    .option('--field-selector <selector>', 'e.g. spec.nodeName=node-1')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .addOption(new Option('-o, --output <format>', 'default: a table').choices(['wide', 'name', 'json']))
    .option('--output-watch-events', 'say of each line whether it was ADDED, MODIFIED or DELETED')
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .action(watch);
}

async function watch(resource: string, flags: WatchFlags): Promise<void> {
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const kubeConfig = loadKubeConfig({
      ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    const client = new ApiClient(kubeConfig);
    const ref = await findResource(resource, (path) => client.getJson(path, signal));
    await printChanges(kubeConfig, ref, flags, interruption);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!signal.aborted || isFatal(error)) throw error;
  }
}

async function printChanges(
  kubeConfig: KubeConfig,
  ref: ResourceRef,
  flags: WatchFlags,
  interruption: Interruption,
): Promise<void> {
  const { signal } = interruption;
  const namespace = namespaceOf(kubeConfig, ref, flags);
  let fatal: KubeloomError | undefined;
  await using informer = new SharedIndexInformer<unknown>(kubeConfig, ref, {
    // The row is read within the handler's call: no expiring entry is kept.
    borrowChecks: 'off',
    ...(namespace === undefined ? {} : { namespace }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(flags.fieldSelector === undefined ? {} : { fieldSelector: flags.fieldSelector }),
    ...(flags.threads === undefined ? {} : { threads: { shards: flags.threads } }),
    onError: (error) => {
      if (!informer.hasSynced() && isFatal(error)) {
        fatal = error;
        interruption.stop();
        return;
      }
      console.error(failureText(error, flags.verbose === true));
    },
  });
  const printer = new WatchPrinter({
    ref,
    format: flags.output ?? 'table',
    hasNamespaces: ref.isNamespaced && namespace === undefined,
    hasEvents: flags.outputWatchEvents === true,
    now: Date.now,
    write: (text) => process.stdout.write(text),
  });
  const registration = informer.addEventHandler(printingHandler(printer));
  const run = informer.run(signal);
  await Promise.race([run, informer.waitForSync(signal, registration).catch(() => undefined)]);
  if (registration.hasSynced()) printer.flush();
  await run;
  if (fatal) throw fatal;
}

function printingHandler(printer: WatchPrinter): ResourceEventHandler<unknown> {
  return {
    onAdd: (added) => printer.print('ADDED', added),
    onUpdate: (previous, current) => {
      // A relist also delivers unchanged objects.
      if (previous.resourceVersion !== current.resourceVersion) printer.print('MODIFIED', current);
    },
    onDelete: (deleted) => printer.print('DELETED', deleted.finalStateUnknown ? deleted.last : deleted),
  };
}

/** Returns undefined for all namespaces, and for a resource without namespaces. */
function namespaceOf(kubeConfig: KubeConfig, ref: ResourceRef, flags: WatchFlags): string | undefined {
  if (!ref.isNamespaced || flags.allNamespaces === true) return undefined;
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  return flags.namespace ?? (context?.namespace || 'default');
}

/** Checks for an answer that a retry cannot change: the server does not understand the request. */
function isFatal(error: unknown): error is KubeloomError {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_BAD_REQUEST';
}
