/** A watch without kubeloom: node:https and JSON.parse. Tests compare informers with it. */
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { ClientRequest } from 'node:http';
import type { ControlPlane } from './control-plane.ts';

const VERBS: Readonly<Record<string, string>> = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' };

interface WireEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly resourceVersion: string;
    };
  };
}

export class PlainWatch {
  /** Events as a handler records its calls: `add default/a@5`. */
  readonly lines: string[] = [];
  #version = 0;
  readonly #request: ClientRequest;
  readonly #waiters: { readonly version: number; readonly resolve: () => void }[] = [];

  /** Watches everything after `resourceVersion`. */
  constructor(controlPlane: ControlPlane, path: string, resourceVersion: string) {
    const url = `${controlPlane.server}${path}?watch=true&resourceVersion=${resourceVersion}&timeoutSeconds=3600`;
    this.#request = request(url, {
      ca: Buffer.from(controlPlane.caData, 'base64'),
      headers: { authorization: `Bearer ${controlPlane.token}` },
    });
    // A watch that fails does not reach the version that its test waits for.
    this.#request.on('error', () => undefined);
    this.#request.on('response', (response) => {
      // Closing the request aborts the response.
      response.on('error', () => undefined);
      const lines = createInterface({ input: response });
      lines.on('error', () => undefined);
      lines.on('line', (line) => this.#take(JSON.parse(line) as WireEvent));
    });
    this.#request.end();
  }

  /** Resolves when the event with this version has arrived. */
  reached(version: number): Promise<void> {
    if (this.#version >= version) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ version, resolve }));
  }

  close(): void {
    this.#request.destroy();
  }

  #take({ type, object }: WireEvent): void {
    const { namespace, name, resourceVersion } = object.metadata;
    this.lines.push(`${VERBS[type]} ${namespace}/${name}@${resourceVersion}`);
    this.#version = Number(resourceVersion);
    for (const waiter of this.#waiters.splice(0)) {
      if (this.#version >= waiter.version) waiter.resolve();
      else this.#waiters.push(waiter);
    }
  }
}
