/** Reads the lines that other processes and threads append to a file, each once. */
import { closeSync, existsSync, openSync, readSync, fstatSync, truncateSync } from 'node:fs';
import type { Line } from './history.ts';

const NEWLINE = 0x0a;

export class LogTail {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the complete lines since the last call: a process that was killed may have left a part of its last line. */
  read(): Line[] {
    if (!existsSync(this.#path)) return [];
    const file = openSync(this.#path, 'r');
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#offset));
      const length = readSync(file, bytes, 0, bytes.length, this.#offset);
      const end = bytes.lastIndexOf(NEWLINE, length - 1) + 1;
      this.#offset += end;
      const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Line);
    } finally {
      closeSync(file);
    }
  }

  /** Empties the file; nothing may be written to it meanwhile. */
  empty(): void {
    if (existsSync(this.#path)) truncateSync(this.#path);
    this.#offset = 0;
  }
}
