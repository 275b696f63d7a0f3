/** `kubeloom get` and `kubeloom watch`: the objects of resources, and their changes, from informers. */
import { SharedIndexInformer, loadKubeConfig } from '../index.ts';
import type { Borrowed, HandlerRegistration, LoadedKubeConfig, ResourceEventHandler } from '../index.ts';
import { KubeloomError } from '../base/errors.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { findResource } from '../kube/rest-mapper.ts';
import { ApiClient } from '../reflector/api-client.ts';
import type { GetFlags } from './commands/get.ts';
import { failureText } from './failure.ts';
import { ObjectPrinter, documentOf, isDocument } from './object-printer.ts';
import type { ChangeKind } from './object-printer.ts';
import { parseOutput } from './output.ts';
import type { Output } from './output.ts';
import { listenForInterruption } from './signals.ts';

const TABLE: Output = { type: 'table', isWide: false };

interface GetOptions extends Omit<GetFlags, 'output'> {
  readonly output: Output;
}

export async function get(resources: string, names: readonly string[], given: GetFlags): Promise<void> {
  const flags: GetOptions = {
    ...given,
    output: given.output === undefined ? TABLE : parseOutput(given.output),
  };
  const wanted = queriesOf(resources, names, flags);
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const kubeConfig = loadKubeConfig({
      ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    const client = new ApiClient(kubeConfig);
    const queries: Query[] = [];
    for (const { resource, names } of wanted) {
      const ref = await findResource(resource, (path) => client.getJson(path, signal));
      queries.push({ ref, names, namespace: namespaceOf(kubeConfig, ref, flags) });
    }
    await print(kubeConfig, queries, flags, signal);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!signal.aborted) throw error;
  }
}

interface NamedResource {
  readonly resource: string;
  /** Empty for all objects. */
  readonly names: ReadonlySet<string>;
}

/** `pods web-0 web-1`, `pods,services`, or `pod/web-0 service/web`. */
function queriesOf(resources: string, names: readonly string[], flags: GetOptions): NamedResource[] {
  if (!resources.includes('/')) {
    if (names.length > 0) refuseNames(flags);
    return resources.split(',').map((resource) => ({ resource, names: new Set(names) }));
  }
  refuseNames(flags);
  const found = new Map<string, Set<string>>();
  for (const each of [resources, ...names]) {
    const [, resource, name] = /^([^/,]+)\/([^/]+)$/.exec(each) ?? [];
    if (resource === undefined || name === undefined) {
      throw usage(`${JSON.stringify(each)}: expected RESOURCE/NAME, as before it`);
    }
    found.set(resource, (found.get(resource) ?? new Set()).add(name));
  }
  return [...found].map(([resource, named]) => ({ resource, names: named }));
}

function refuseNames({ allNamespaces, selector, fieldSelector }: GetOptions): void {
  if (allNamespaces === true) throw usage('a name needs one namespace: -A and names exclude each other');
  if (selector ?? fieldSelector) throw usage('selectors and names exclude each other');
}

interface Query extends Omit<NamedResource, 'resource'> {
  readonly ref: ResourceRef;
  /** Undefined for all namespaces, and for a resource without namespaces. */
  readonly namespace: string | undefined;
}

async function print(
  kubeConfig: LoadedKubeConfig,
  queries: readonly Query[],
  flags: GetOptions,
  interrupted: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([interrupted, ended.signal]);
  const isWatch = flags.watch === true || flags.watchOnly === true;
  const hasKinds = queries.length > 1;
  let fatal: KubeloomError | undefined;
  const onError = (error: KubeloomError, hasSynced: boolean): void => {
    if (!isWatch || (!hasSynced && isFatal(error))) {
      fatal ??= error;
      ended.abort();
    } else console.error(failureText(error, flags.verbose === true));
  };
  const listings = queries.map(
    (query) => new Listing({ kubeConfig, query, flags, isWatch, hasKinds, onError }),
  );
  const runs = listings.map((listing) => listing.run(signal));
  try {
    await Promise.all(listings.map((listing) => listing.synced(signal)));
    if (listings.every((listing) => listing.hasSynced)) finishInitial(listings, flags, isWatch);
    if (isWatch) await Promise.all(runs);
  } finally {
    ended.abort();
    await Promise.all(runs);
  }
  if (fatal) throw fatal;
}

/** Prints the initial objects of all resources. */
function finishInitial(listings: readonly Listing[], flags: GetOptions, isWatch: boolean): void {
  const { output, watchOnly } = flags;
  const objects = listings.flatMap((listing) => listing.finishInitial());
  if (watchOnly === true) return;
  const missing = listings.flatMap((listing) => listing.missing());
  if (!isWatch && isDocument(output) && (objects.length > 0 || missing.length === 0)) {
    const isOne = listings.length === 1 && listings[0]?.query.names.size === 1;
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects };
    process.stdout.write(documentOf(output, isOne ? objects[0] : list));
  }
  if (missing.length > 0) {
    throw new KubeloomError('ERR_KUBELOOM_NOT_FOUND', `not found: ${missing.join(', ')}`);
  }
  if (!isWatch && !isDocument(output) && listings.every(({ isEmpty }) => isEmpty)) {
    const namespace = listings.find(({ query }) => query.namespace !== undefined)?.query.namespace;
    console.error(`No resources found${namespace === undefined ? '' : ` in ${namespace} namespace`}.`);
  }
}

interface ListingOptions {
  readonly kubeConfig: LoadedKubeConfig;
  readonly query: Query;
  readonly flags: GetOptions;
  readonly isWatch: boolean;
  readonly hasKinds: boolean;
  readonly onError: (error: KubeloomError, hasSynced: boolean) => void;
}

/** One resource: its informer and its printer. */
class Listing {
  readonly query: Query;
  readonly #flags: GetOptions;
  readonly #isWatch: boolean;
  readonly #informer: SharedIndexInformer;
  readonly #printer: ObjectPrinter;
  readonly #registration: HandlerRegistration;
  readonly #initial = new Map<string, unknown>();

  constructor({ kubeConfig, query, flags, isWatch, hasKinds, onError }: ListingOptions) {
    const { ref, names, namespace } = query;
    this.query = query;
    this.#flags = flags;
    this.#isWatch = isWatch;
    const [name] = names;
    const fieldSelector = names.size === 1 ? `metadata.name=${name}` : flags.fieldSelector;
    const shards = flags.threads ?? (isWatch ? undefined : 0);
    this.#informer = new SharedIndexInformer(kubeConfig, ref, {
      // The row is read within the handler's call: no expiring entry is kept.
      borrowChecks: 'off',
      ...(namespace === undefined ? {} : { namespace }),
      ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      // Without a watch the list is read once, so threads would only cost their start.
      ...(shards === undefined ? {} : { threads: { shards } }),
      onError: (error) => onError(error, this.#informer.hasSynced()),
    });
    this.#printer = new ObjectPrinter({
      ref,
      output: flags.output,
      hasNamespaces: ref.isNamespaced && namespace === undefined,
      hasKinds,
      hasEvents: isWatch && flags.outputWatchEvents === true,
      now: Date.now,
      write: (text) => process.stdout.write(text),
    });
    this.#registration = this.#informer.addEventHandler(this.#handler());
  }

  get hasSynced(): boolean {
    return this.#registration.hasSynced();
  }

  get isEmpty(): boolean {
    return this.#initial.size === 0;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /** Resolves when the initial objects were delivered, or the command has ended before. */
  async synced(signal: AbortSignal): Promise<void> {
    await this.#informer.waitForSync(signal, this.#registration).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** Prints the initial rows. Without a watch, returns objects that are to be printed as one document. */
  finishInitial(): unknown[] {
    const { output, watchOnly } = this.#flags;
    const isOneDocument = !this.#isWatch && isDocument(output);
    if (watchOnly === true || isOneDocument) this.#printer.skip();
    else this.#printer.flush();
    return isOneDocument ? [...this.#initial.values()] : [];
  }

  /** Names that were asked for and do not exist, as `pods "web-0"`. */
  missing(): string[] {
    const { ref, names, namespace } = this.query;
    const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
    return [...names]
      .filter((name) => !this.#initial.has(namespace === undefined ? name : `${namespace}/${name}`))
      .map((name) => `${ref.resource} ${JSON.stringify(name)}${where}`);
  }

  #handler(): ResourceEventHandler<unknown> {
    return {
      onAdd: (added, isInInitialList) => {
        if (!this.#selects(added.name)) return;
        if (isInInitialList) this.#keepInitial(added);
        this.#printer.print('ADDED', added);
      },
      onUpdate: (previous, current) => {
        // A relist also delivers unchanged objects.
        if (previous.resourceVersion !== current.resourceVersion) this.#print('MODIFIED', current);
      },
      onDelete: (deleted) => this.#print('DELETED', deleted.finalStateUnknown ? deleted.last : deleted),
    };
  }

  #keepInitial(added: Borrowed<unknown>): void {
    const isDocumentNeeded = !this.#isWatch && isDocument(this.#flags.output);
    this.#initial.set(added.key, isDocumentNeeded ? JSON.parse(added.bytes().toString()) : undefined);
  }

  #print(kind: ChangeKind, object: Borrowed<unknown>): void {
    if (this.#selects(object.name)) this.#printer.print(kind, object);
  }

  #selects(name: string): boolean {
    return this.query.names.size === 0 || this.query.names.has(name);
  }
}

/** Returns undefined for all namespaces, and for a resource without namespaces. */
function namespaceOf(kubeConfig: LoadedKubeConfig, ref: ResourceRef, flags: GetOptions): string | undefined {
  if (!ref.isNamespaced || flags.allNamespaces === true) return undefined;
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  return flags.namespace ?? (context?.namespace || 'default');
}

/** Checks for an answer that a retry cannot change: the server does not understand the request. */
function isFatal(error: unknown): error is KubeloomError {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_BAD_REQUEST';
}

function usage(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', message);
}
