/**
 * The status of a run: a ConfigMap for each index with the index's state, and an informer that reads the states of all.
 * An entry is written again with every beat, so a failed write is repeated, and a dead index is noticed.
 */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import type { Clock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { onAbort } from '../../../base/on-abort.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { InformerThreads, SharedIndexInformer, resources } from '../../../index.ts';
import { resourcePath } from '../../../kube/resource.ts';
import type { ResourceRef } from '../../../kube/resource.ts';
import { KubeStatusError } from '../../../kube/status.ts';
import { statusNamespaceOf } from '../run/cluster.ts';
import type { ApiWriter } from '../write/api-writer.ts';
import { LABEL, LABEL_VALUE } from '../write/kinds.ts';
import { Heartbeats } from './heartbeats.ts';

/** The label of entries, with the entry's name. */
const ENTRY = 'loadtest.kubeloom.dev/entry';
export const BEAT_MS = 3000;
/** The wait for index 0 to create the run, which includes the pull of images. */
export const JOIN_MS_MAX = 600_000;
const RETRY_MS = 500;
const CONFIG_MAPS: ResourceRef = resources.core.v1.configMaps;

export interface RunStatusOptions {
  readonly api: ApiWriter;
  readonly kubeConfig: AnyKubeConfig;
  /** The identifier of the run. */
  readonly run: string;
  /** The name of the own entry: `index-2`. */
  readonly name: string;
  /** The other entries to watch; undefined: all. */
  readonly others?: readonly string[];
  readonly clock: Clock;
  /** Ends all waits. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

interface EntryData {
  readonly beat: string;
  /** Number of the state. */
  readonly version: string;
  readonly state: string;
}

interface EntryObject {
  readonly metadata: { readonly name: string };
  readonly data: EntryData & Readonly<Record<string, string>>;
}

export function entryName(index: number): string {
  return `index-${index}`;
}

function pathOf(run: string): string {
  return resourcePath(CONFIG_MAPS, statusNamespaceOf(run));
}

/** @typeParam Own the state of the own entry */
export class RunStatus<Own extends object> implements AsyncDisposable {
  readonly #options: RunStatusOptions;
  readonly #heartbeats: Heartbeats;
  readonly #entries = new Map<string, EntryObject['data']>();
  readonly #lookers = new Set<() => void>();
  readonly #threads = new InformerThreads({ indexerThreads: 0 });
  readonly #informer: SharedIndexInformer<EntryObject>;
  #state: Own;
  #version = 1;
  #beat = 1;
  #failure: Error | undefined;
  #isClosed = false;
  #written: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;

  private constructor(options: RunStatusOptions, state: Own) {
    const { kubeConfig, run, name, others, say } = options;
    this.#options = options;
    this.#state = state;
    this.#heartbeats = new Heartbeats(name);
    this.#informer = new SharedIndexInformer<EntryObject>(kubeConfig, CONFIG_MAPS, {
      namespace: statusNamespaceOf(run),
      labelSelector: others ? `${ENTRY} in (${[name, ...others].join(',')})` : ENTRY,
      threads: this.#threads,
      onError: (error) => say(`runStatus: ${error.message}`),
    });
    const take = ({ metadata, data }: EntryObject): void => {
      this.#entries.set(metadata.name, data);
      this.#heartbeats.seen(metadata.name, data.beat);
      this.#look();
    };
    this.#informer.addEventHandler({
      onAdd: ({ object }) => take(object),
      onUpdate: (_, { object }) => take(object),
    });
  }

  /**
   * Creates the own entry and reads the other entries. Waits until the run exists.
   *
   * @param facts members of the entry that never change
   * @throws ERR_KUBELOOM_LOADTEST when the entry exists, or after 10 minutes without the run
   */
  static async join<Own extends object>(
    options: RunStatusOptions,
    state: Own,
    facts: Readonly<Record<string, string>> = {},
  ): Promise<RunStatus<Own>> {
    const runStatus = new RunStatus(options, state);
    try {
      await runStatus.#create(facts);
      // A failure of the run also reaches waitForSync.
      runStatus.#informer.run().catch(() => undefined);
      await runStatus.#informer.waitForSync({ signal: options.signal });
    } catch (error) {
      await runStatus[Symbol.asyncDispose]();
      throw error;
    }
    onAbort(options.signal, () => runStatus.#fail(options.signal.reason as Error));
    runStatus.#written = runStatus.#write();
    return runStatus;
  }

  /** Returns the state of an entry; undefined before there is an entry. */
  stateOf(name: string): unknown {
    const text = this.#entries.get(name)?.state;
    return text === undefined ? undefined : parseJson(text);
  }

  factOf(name: string, fact: string): string | undefined {
    return this.#entries.get(name)?.[fact];
  }

  /** True if this entry did not change during 15 s in which the server answered. */
  isSilent(name: string): boolean {
    return this.#heartbeats.isSilent(name);
  }

  /** Changes the own entry. It is written before the run status is closed. */
  post(state: Own): void {
    this.#state = state;
    this.#version++;
    this.#wake();
  }

  /** Changes the own entry; resolves when it came back from the server. */
  async publish(state: Own): Promise<void> {
    this.post(state);
    const version = this.#version;
    const { name } = this.#options;
    await this.until(() => Number(this.#entries.get(name)?.version) >= version || undefined);
  }

  /**
   * Resolves with the result of `find` as soon as that is not undefined; `find` is called again after every change.
   *
   * @throws errors of `find`; ERR_KUBELOOM_LOADTEST after `limitMs`, and when the run was removed
   */
  until<T>(find: () => T | undefined, limitMs?: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const { clock } = this.#options;
      let cancel = (): void => undefined;
      const end = (): void => {
        cancel();
        this.#lookers.delete(look);
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      const look = (): void => {
        try {
          if (this.#failure) throw this.#failure;
          const found = find();
          if (found === undefined) return;
          end();
          resolve(found);
        } catch (error) {
          fail(error);
        }
      };
      this.#lookers.add(look);
      if (limitMs !== undefined) {
        const message = `there was no change for ${limitMs / 1000} s`;
        cancel = clock.schedule(limitMs, () => fail(new KubeloomError('ERR_KUBELOOM_LOADTEST', message)));
      }
      look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#written;
    await this.#informer[Symbol.asyncDispose]();
    await this.#threads[Symbol.asyncDispose]();
  }

  get #data(): EntryData {
    return {
      beat: String(this.#beat),
      version: String(this.#version),
      state: JSON.stringify(this.#state),
    };
  }

  async #create(facts: Readonly<Record<string, string>>): Promise<void> {
    const { api, run, name, clock, signal, say } = this.#options;
    const labels = { [LABEL]: LABEL_VALUE, [ENTRY]: name };
    const data = { ...facts, ...this.#data };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data };
    const deadlineMs = clock.now() + JOIN_MS_MAX;
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      try {
        await api.send('POST', pathOf(run), body, undefined, signal);
        return;
      } catch (cause) {
        if (cause instanceof KubeStatusError && cause.reason === 'AlreadyExists') {
          const message = `${name} of this run has already started: collect the run, or choose another --run`;
          throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
        }
        const isAbsent = cause instanceof KubeloomError && cause.code === 'ERR_KUBELOOM_NOT_FOUND';
        if (!isAbsent || clock.now() > deadlineMs) throw cause;
        if (tries === 1) say('waiting for index 0, which creates the run');
      }
      await this.#wait(RETRY_MS);
    }
  }

  /** Writes the entry after every change and with every beat, never two writes at a time. */
  async #write(): Promise<void> {
    const { api, run, name } = this.#options;
    while (!this.#failure) {
      const version = this.#version;
      try {
        await api.send('PATCH', `${pathOf(run)}/${name}`, { data: this.#data });
      } catch (cause) {
        if (!(cause instanceof KubeloomError)) throw cause;
        // Any other failed write is repeated with the next beat; the other indexes notice if the failures last.
        if (cause.code === 'ERR_KUBELOOM_NOT_FOUND') this.#fail(removed(cause));
      }
      if (version !== this.#version) continue;
      if (this.#isClosed) return;
      if ((await this.#wait(BEAT_MS)) === 'time') this.#beat++;
    }
  }

  #wait(durationMs: number): Promise<'time' | 'woken'> {
    return new Promise((resolve) => {
      const { clock } = this.#options;
      const cancel = clock.schedule(durationMs, () => resolve('time'));
      this.#wake = () => {
        cancel();
        resolve('woken');
      };
      if (this.#isClosed || this.#failure) this.#wake();
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
    this.#look();
  }

  #look(): void {
    for (const look of this.#lookers) look();
  }
}

function removed(cause: Error): KubeloomError {
  const message = `the run was removed while it ran: ${messageOf(cause)}`;
  return new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
}
