/** `kubeloom watch`: the objects of resources, then their changes, from informers; a line each, made from the bytes. */
import { SharedIndexInformer } from '../../index.ts';
import type { Borrowed, InformerOptions, LoadedKubeConfig } from '../../index.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { findResource } from '../../kube/rest-mapper.ts';
import { ApiClient } from '../../http/api-client.ts';
import type { WatchFlags } from './commands/watch.ts';
import { kubeConfigOf, selectionOf } from './cluster.ts';
import { failureText } from './failure.ts';
import { listenForInterruption } from './signals.ts';
import { printJson, printLine, printText } from './terminal/output.ts';

type Event = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Prints until SIGINT or SIGTERM. @throws KubeloomError when a server does not understand the request */
export async function watch(resources: string, flags: WatchFlags): Promise<void> {
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const kubeConfig = kubeConfigOf(flags);
    const client = new ApiClient(kubeConfig);
    const names = resources.split(',');
    const refs = await Promise.all(
      names.map((name) => findResource(name, (path) => client.getJson(path, signal))),
    );
    await print(kubeConfig, refs, flags, signal);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!signal.aborted) throw error;
  }
}

async function print(
  kubeConfig: LoadedKubeConfig,
  refs: readonly ResourceRef[],
  flags: WatchFlags,
  interrupted: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  let fatal: KubeloomError | undefined;
  const runs = refs.map((ref) => {
    const informer: SharedIndexInformer = new SharedIndexInformer(kubeConfig, ref, {
      ...optionsOf(kubeConfig, ref, flags),
      onError: (error) => {
        if (informer.hasSynced() || error.code !== 'ERR_KUBELOOM_BAD_REQUEST') {
          printText(failureText(error, flags.verbose === true), process.stderr);
          return;
        }
        fatal ??= error;
        ended.abort();
      },
    });
    const write = (event: Event, object: Borrowed<unknown>): void => {
      printEvent(event, ref, object, flags);
    };
    let isEmpty = true;
    const registration = informer.addEventHandler({
      onAdd: (added, isInInitialList) => {
        isEmpty = false;
        if (!isInInitialList || flags.watchOnly !== true) write('ADDED', added);
      },
      onUpdate: (previous, current) => {
        // A relist also delivers unchanged objects.
        if (previous.resourceVersion !== current.resourceVersion) write('MODIFIED', current);
      },
      onDelete: (deleted) => write('DELETED', deleted.finalStateUnknown ? deleted.last : deleted),
    });
    const signal = AbortSignal.any([interrupted, ended.signal]);
    // An end before the first list is reported by the run.
    informer.waitForSync({ registration, signal }).then(
      () => {
        if (isEmpty) printLine(emptyText(ref, optionsOf(kubeConfig, ref, flags)), process.stderr);
      },
      () => undefined,
    );
    return informer.run({ signal });
  });
  await Promise.all(runs);
  if (fatal) throw fatal;
}

function optionsOf(
  kubeConfig: LoadedKubeConfig,
  ref: ResourceRef,
  flags: WatchFlags,
): InformerOptions<unknown> {
  const { threads } = flags;
  return {
    // The line is made within the handler's call: no expiring entry is kept.
    debug: { retainChecks: 'off' },
    ...selectionOf(kubeConfig, ref, flags),
    ...(threads === undefined ? {} : { threads: { indexerThreads: threads } }),
  };
}

function emptyText({ resource }: ResourceRef, { namespace }: InformerOptions<unknown>): string {
  return `no ${resource} found${namespace === undefined ? '' : ` in namespace ${namespace}`}, waiting for changes`;
}

function printEvent(event: Event, ref: ResourceRef, object: Borrowed<unknown>, flags: WatchFlags): void {
  const { output, outputWatchEvents } = flags;
  if (output === 'json' || flags.json === true) {
    const json = object.bytes().toString();
    return printJson(outputWatchEvents === true ? `{"type":"${event}","object":${json}}` : json);
  }
  const { group, kind } = ref;
  const name = `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${object.name}`;
  if (output === 'name') return printLine(outputWatchEvents === true ? `${event} ${name}` : name);
  const namespace = object.namespace === '' ? '' : `${object.namespace} `;
  printLine(`${event.padEnd('MODIFIED'.length)} ${namespace}${name}`);
}
