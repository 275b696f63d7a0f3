/**
 * Reads the small files of kubeconfigs and credentials. Each file is opened once, without waiting for the other end of a pipe,
 * and is checked and read by descriptor: a path may lead to another file a moment later, and a device never ends.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { Word, allocateWords } from '../../shared/ring/word.ts';

/** The limit for a CA bundle and a kubeconfig, far above any real file. */
export const FILE_BYTES_MAX: number = 4 * 1024 * 1024;

/** Explains why the content of a file cannot be used, without quoting it. */
export class UnusableFile extends Error {}

export interface ReadOptions {
  /** Default: `FILE_BYTES_MAX`. */
  readonly bytesMax?: number;
  /** Reads a pipe as well, to the end. Default: false. */
  readonly isPipeAllowed?: boolean;
  /** The clock of the time limit for a pipe. Default: the real clock. */
  readonly clock?: Pick<Clock, 'now'>;
}

const CHUNK_BYTES = 64 * 1024;
/** The calling thread waits meanwhile, and no signal handler runs on it. */
const PIPE_MS_MAX = 5000;
const PIPE_PAUSE_MS = 10;
/** Windows lacks the last two, and a flag that is undefined is none. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** @throws UnusableFile, or Node's error with the system call */
export function readSmallFile(path: string, options: ReadOptions = {}): Buffer {
  const { bytesMax = FILE_BYTES_MAX, isPipeAllowed = false, clock = realClock } = options;
  const descriptor = openSync(path, FLAGS);
  try {
    const file = fstatSync(descriptor);
    if (file.isDirectory()) throw new UnusableFile(`${path} is a directory: name a file`);
    const isPipe = file.isFIFO() && isPipeAllowed;
    if (!file.isFile() && !isPipe) throw new UnusableFile(`${path} is not a regular file`);
    if (file.size > bytesMax)
      throw new UnusableFile(`${path} has ${file.size} bytes: too large for its purpose`);
    return isPipe ? readPipe(descriptor, path, bytesMax, clock) : readToEnd(descriptor, path, bytesMax);
  } finally {
    closeSync(descriptor);
  }
}

function readToEnd(descriptor: number, path: string, bytesMax: number): Buffer {
  const content = new Content(path, bytesMax);
  while (content.add(readSync(descriptor, content.chunk)) > 0);
  return content.whole;
}

/** Before the writer begins, a pipe reads as ended; while the writer pauses, as empty for now. */
function readPipe(descriptor: number, path: string, bytesMax: number, clock: Pick<Clock, 'now'>): Buffer {
  const content = new Content(path, bytesMax);
  const pause = new Word(new Int32Array(allocateWords(1)), 0);
  const deadline = clock.now() + PIPE_MS_MAX;
  for (;;) {
    const bytes = readAvailable(descriptor, content.chunk);
    if (bytes === 0 && content.bytes > 0) return content.whole;
    if (bytes !== undefined && content.add(bytes) > 0) continue;
    if (clock.now() >= deadline) {
      throw new UnusableFile(
        `${path} is a pipe that did not end within ${PIPE_MS_MAX / 1000} s: write a file`,
      );
    }
    pause.wait(0, PIPE_PAUSE_MS);
  }
}

/** @returns undefined when there are no bytes for now */
function readAvailable(descriptor: number, into: Buffer): number | undefined {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined;
    throw error;
  }
}

class Content {
  readonly chunk: Buffer = Buffer.alloc(CHUNK_BYTES);
  bytes = 0;
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #parts: Buffer[] = [];

  constructor(path: string, bytesMax: number) {
    this.#path = path;
    this.#bytesMax = bytesMax;
  }

  /** Keeps the first bytes of the chunk. */
  add(bytes: number): number {
    this.bytes += bytes;
    if (this.bytes > this.#bytesMax) {
      throw new UnusableFile(
        `${this.#path} has more than ${this.#bytesMax} bytes: too large for its purpose`,
      );
    }
    this.#parts.push(Buffer.from(this.chunk.subarray(0, bytes)));
    return bytes;
  }

  get whole(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
