/**
 * A sink that writes down what it is told and lets a test wait for it, and servers on loopback that live
 * as long as the test.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import type { TestContext } from 'node:test';
import type { KubeloomError } from '../../src/errors.ts';
import type { ResponseSink } from '../../src/transport/http.ts';

/** Something that happens once and can be waited for. */
export class Happening {
  readonly promise: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  resolve(): void {
    this.#resolve();
  }
}

export class RecordingSink implements ResponseSink {
  readonly calls: string[] = [];
  readonly chunks: Buffer[] = [];
  status = 0;
  headers: Record<string, string> = {};
  error: KubeloomError | undefined;
  onData: (() => void) | undefined;
  readonly #ended = new Happening();
  readonly #firstData = new Happening();

  head(status: number, headers: Record<string, string>): void {
    this.calls.push('head');
    this.status = status;
    this.headers = headers;
  }

  data(chunk: Uint8Array): void {
    if (this.calls.at(-1) !== 'data') this.calls.push('data');
    this.chunks.push(Buffer.from(chunk));
    this.#firstData.resolve();
    this.onData?.();
  }

  end(error: KubeloomError | undefined): void {
    this.calls.push('end');
    this.error = error;
    this.#ended.resolve();
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get firstData(): Promise<void> {
    return this.#firstData.promise;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  /** Waits for the end, which must be an error with this code. */
  async failsWith(code: string): Promise<KubeloomError & { readonly errno?: string }> {
    await this.ended;
    assert.equal(this.error?.code, code, this.error?.message);
    return this.error;
  }
}

export async function serve(context: TestContext, listener: RequestListener): Promise<string> {
  return `http://${await listenOnLoopback(context, createServer(listener))}`;
}

export async function serveTls(
  context: TestContext,
  material: { key: string; cert: string },
  listener: RequestListener,
): Promise<string> {
  return `https://${await listenOnLoopback(context, createTlsServer(material, listener))}`;
}

/** @returns `127.0.0.1:port` */
export async function listenOnLoopback(context: TestContext, server: NetServer | Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
