/** A ListerWatcher that answers by a script, and records its calls. */
import type {
  KubeList,
  ListOptions,
  ListerWatcher,
  Watch,
  WatchEvent,
} from '../../../../src/kube/lister-watcher.ts';

export interface Pod {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

export function pod(name: string, resourceVersion: string | number = 1): Pod {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
  };
}

export function podList(
  resourceVersion: string | number,
  items: readonly Pod[],
  token?: string,
): KubeList<Pod> {
  const metadata = { resourceVersion: String(resourceVersion), ...(token ? { continue: token } : {}) };
  return { kind: 'PodList', apiVersion: 'v1', metadata, items };
}

export const added = (name: string, rv: string | number): WatchEvent<Pod> => ({
  type: 'ADDED',
  object: pod(name, rv),
});
export const modified = (name: string, rv: string | number): WatchEvent<Pod> => ({
  type: 'MODIFIED',
  object: pod(name, rv),
});
export const deleted = (name: string, rv: string | number): WatchEvent<Pod> => ({
  type: 'DELETED',
  object: pod(name, rv),
});
export function bookmark(rv: string | number, end?: string): WatchEvent<Pod> {
  const annotations = end === undefined ? {} : { annotations: { 'k8s.io/initial-events-end': end } };
  return {
    type: 'BOOKMARK',
    object: { kind: 'Pod', metadata: { resourceVersion: String(rv), ...annotations } },
  };
}
export function errorEvent(code: number, reason: string, details: object = {}): WatchEvent<Pod> {
  return {
    type: 'ERROR',
    object: { kind: 'Status', status: 'Failure', code, reason, message: reason, ...details },
  };
}

/** Returns a response of the server in the form of another client's error. */
export function statusThrown(code: number, reason: string, more: object = {}): Error {
  const error = new Error(`${code} ${reason}`);
  return Object.assign(error, { httpStatus: code, reason, ...more });
}

export class ScriptedWatch implements Watch<Pod> {
  stops = 0;
  readonly #events: WatchEvent<Pod>[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;

  send(...events: WatchEvent<Pod>[]): this {
    this.#events.push(...events);
    this.#wake();
    return this;
  }

  end(error?: Error): this {
    this.#end ??= error ? { error } : {};
    this.#wake();
    return this;
  }

  stop(): void {
    this.stops++;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Pod>> {
    for (;;) {
      const event = this.#events.shift();
      if (event) {
        yield event;
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}

/** Marks a request that is never answered. */
export const SILENCE: unique symbol = Symbol('silence');

export class ScriptedListerWatcher implements ListerWatcher<Pod> {
  /** Calls in order, as `LIST {"resourceVersion":"0","limit":500}`; a watch without its random timeout. */
  readonly calls: string[] = [];
  readonly watches: ScriptedWatch[] = [];
  readonly timeouts: number[] = [];
  readonly signals: AbortSignal[] = [];
  readonly listAnswers: (KubeList<Pod> | Error | typeof SILENCE)[] = [];
  /** Without an answer a watch opens and stays open. */
  readonly watchAnswers: (Error | ScriptedWatch)[] = [];
  isWatchListUnsupported = true;

  list(options: ListOptions, signal: AbortSignal): Promise<KubeList<Pod>> {
    this.calls.push(`LIST ${JSON.stringify(options)}`);
    this.signals.push(signal);
    const answer = this.listAnswers.shift() ?? SILENCE;
    if (answer === SILENCE) return new Promise(() => undefined);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }

  watch({ timeoutSeconds, ...options }: ListOptions, signal: AbortSignal): Promise<Watch<Pod>> {
    this.calls.push(`WATCH ${JSON.stringify(options)}`);
    this.timeouts.push(timeoutSeconds ?? 0);
    this.signals.push(signal);
    const answer = this.watchAnswers.shift() ?? new ScriptedWatch();
    if (answer instanceof Error) return Promise.reject(answer);
    this.watches.push(answer);
    return Promise.resolve(answer);
  }

  /** The latest watch. */
  get watching(): ScriptedWatch {
    const last = this.watches.at(-1);
    if (!last) throw new Error('no watch is open');
    return last;
  }

  /** Returns the calls since the last `take`. */
  take(): string[] {
    return this.calls.splice(0);
  }
}
