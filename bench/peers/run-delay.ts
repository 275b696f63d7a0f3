/**
 * For how long the calling thread was ready to run and had no processor: Linux's run delay. What an event loop is late
 * by, less that, is what the program itself delays it by. Read every millisecond, so the file stays open.
 */
import { openSync, readSync } from 'node:fs';

const FILE = '/proc/thread-self/schedstat';
/** Three numbers of 64 bits. */
const BYTES = 64;

export class RunDelay {
  readonly #file: number | undefined = open();
  readonly #bytes: Buffer = Buffer.alloc(BYTES);

  /** Milliseconds since the thread began; undefined where nobody counts them. */
  get ms(): number | undefined {
    if (this.#file === undefined) return undefined;
    const length = readSync(this.#file, this.#bytes, 0, BYTES, 0);
    const [, nanoseconds] = this.#bytes.toString('latin1', 0, length).split(' ');
    return Number(nanoseconds) / 1e6;
  }
}

function open(): number | undefined {
  try {
    return openSync(FILE, 'r');
  } catch {
    // Not Linux, or it does not count: unknown, and said so.
    return undefined;
  }
}
