/** `kubeloom watch RESOURCE`: like `kubectl get -w`, from an informer. */
import type { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer, loadKubeConfig } from '../index.ts';
import type { Borrowed, DeletedFinalStateUnknown } from '../index.ts';
import { KubeloomError } from '../base/errors.ts';
import { findResource } from '../kube/rest-mapper.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { connectionFor } from '../reflector/transport/credentials.ts';
import { ApiClient } from './api-get.ts';
import { failureText } from './failure.ts';
import type { WatchFlags } from './flags.ts';
import { listenForInterruption } from './signals.ts';
import type { Interruption } from './signals.ts';
import { WatchPrinter } from './watch-printer.ts';

export async function runWatch(resource: string, flags: WatchFlags): Promise<void> {
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const kubeConfig = loadKubeConfig({
      ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    const ref = await discover(resource, kubeConfig, signal);
    await printChanges(kubeConfig, ref, flags, interruption);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!signal.aborted || isFatal(error)) throw error;
  }
}

async function discover(resource: string, kubeConfig: KubeConfig, signal: AbortSignal): Promise<ResourceRef> {
  await using client = new ApiClient(await connectionFor(kubeConfig, { signal }), signal);
  return await findResource(resource, client.getJson);
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

interface PrintingHandler {
  onAdd(added: Borrowed<unknown>): void;
  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): void;
  onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): void;
}

function printingHandler(printer: WatchPrinter): PrintingHandler {
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
