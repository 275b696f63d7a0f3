/** Chromium without a window, driven through its pipe: a test opens a file and asks its page. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { HANG_MS } from '../../../kit/hang.ts';

/** Returns the program; undefined on a machine without it. */
export function findChromium(): string | undefined {
  return ['chromium', 'chromium-browser', 'google-chrome'].find(
    (program) => spawnSync(program, ['--version']).status === 0,
  );
}

export interface WindowSize {
  readonly width: number;
  readonly height: number;
  /** Pixels of a picture for each pixel of the page. */
  readonly deviceScaleFactor: number;
}

const SIZE: WindowSize = { width: 1180, height: 1500, deviceScaleFactor: 1 };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export class Chromium implements AsyncDisposable {
  /** Errors and warnings of the console, exceptions, and addresses that pages requested besides themselves. */
  readonly complaints: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #pending = new Map<number, (message: Message) => void>();
  readonly #waiters = new Map<string, () => void>();
  #session: string | undefined;
  /** The beginning of the addresses that the page may request. */
  #own = 'file:///';
  #calls = 0;
  #rest = '';

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    const output = child.stdio[4] as Readable;
    output.setEncoding('utf8').on('data', (text: string) => this.#receive(text));
  }

  static async start(program: string): Promise<Chromium> {
    const folder = await mkdtemp(path.join(tmpdir(), 'kubeloom-chromium-'));
    const isRoot = process.getuid?.() === 0;
    const child = spawn(
      program,
      [
        '--headless',
        '--remote-debugging-pipe',
        '--disable-gpu',
        '--hide-scrollbars',
        `--user-data-dir=${folder}`,
        // Its sandbox needs rights that root gives up.
        ...(isRoot ? ['--no-sandbox'] : []),
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    const chromium = new Chromium(child, folder);
    const { targetId } = await chromium.#call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await chromium.#call('Target.attachToTarget', { targetId, flatten: true });
    chromium.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await chromium.#call(`${domain}.enable`, {});
    return chromium;
  }

  /** Opens a file, or a page of a server. Resolves when its scripts have run. */
  async open(address: string, scheme: 'light' | 'dark', size: WindowSize = SIZE): Promise<void> {
    await this.resize(scheme, size);
    const url = address.startsWith('http:') ? new URL(address) : pathToFileURL(address);
    this.#own = `${url.protocol}//${url.host}/`;
    const loaded = this.#event('Page.loadEventFired');
    await this.#call('Page.navigate', { url: url.href });
    await loaded;
  }

  /** Changes the colour scheme and the window of the page that is open. */
  async resize(scheme: 'light' | 'dark', size: WindowSize = SIZE): Promise<void> {
    await this.#call('Emulation.setDeviceMetricsOverride', { ...size, mobile: false });
    const features = [
      { name: 'prefers-color-scheme', value: scheme },
      // Colours change at once.
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ];
    await this.#call('Emulation.setEmulatedMedia', { features });
  }

  /** Returns the value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', options);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value?: unknown }).value;
  }

  /** Returns a picture of the page as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
    // Processes of Chromium may still write while they end.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #call(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#calls;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    const answer = this.#within<Message>(method, (resolve) => this.#pending.set(id, resolve));
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return answer.then(({ result, error }) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      return result ?? {};
    });
  }

  #event(method: string): Promise<void> {
    return this.#within<void>(method, (resolve) => this.#waiters.set(method, resolve));
  }

  #within<T>(what: string, begin: (resolve: (value: T) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const limit = AbortSignal.timeout(HANG_MS);
      limit.addEventListener('abort', () => reject(new Error(`no answer of Chromium to ${what}`)));
      begin(resolve);
    });
  }

  #receive(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) this.#take(JSON.parse(message) as Message);
  }

  #isOwn(params: Message['params']): boolean {
    const request = params?.['request'] as { readonly url: string } | undefined;
    const url = request?.url ?? '';
    return url.startsWith(this.#own) || url.startsWith('data:');
  }

  #take(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined) this.#pending.get(id)?.(message);
    if (method === undefined) return;
    this.#waiters.get(method)?.();
    const isComplaint =
      method === 'Runtime.exceptionThrown' ||
      method === 'Runtime.consoleAPICalled' ||
      method === 'Log.entryAdded' ||
      (method === 'Network.requestWillBeSent' && !this.#isOwn(params));
    if (isComplaint) this.complaints.push(`${method} ${JSON.stringify(params)}`);
  }
}
