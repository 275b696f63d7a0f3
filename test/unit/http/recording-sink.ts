/**
 * A sink that records its calls and lets a test wait for them, and transports and servers on loopback that close with
 * the test.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import type { TestContext } from 'node:test';
import type { KubeloomError } from '../../../src/base/errors.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import type { Http1TransportOptions } from '../../../src/http/http1-transport.ts';
import type { ConnectionOptions } from '../../../src/kube/connection-options.ts';
import { CA } from './certificates.ts';
import type { HttpTransport, ResponseSink } from '../../../src/http/http.ts';

/** An event that happens once and can be awaited. */
export class Happening {
  resolve: () => void = () => undefined;
  readonly promise: Promise<void> = new Promise((resolve) => (this.resolve = resolve));
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

/** Sends a GET and waits for its end. */
export async function get(transport: HttpTransport, path = '/api'): Promise<RecordingSink> {
  const sink = new RecordingSink();
  transport.request({ path, timeoutMs: 60_000 }, sink);
  await sink.ended;
  return sink;
}

export function transportTo(
  context: TestContext,
  server: string,
  options: Http1TransportOptions = {},
  connection: Partial<ConnectionOptions> = {},
): Http1Transport {
  const transport = new Http1Transport({ server, headers: {}, ca: CA, ...connection }, options);
  context.after(() => transport.dispose());
  return transport;
}
