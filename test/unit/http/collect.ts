/**
 * A sink that records what it takes and refuses now and then; and a driver that writes a body in given
 * pieces as the reflector does, offering again what was refused.
 */

export interface Piece {
  readonly text: string;
  /** Set for a line or item above the limit. */
  readonly totalBytes?: number;
}

export class Collector {
  readonly taken: Piece[] = [];
  readonly faults: Error[] = [];
  needsList: boolean | undefined;
  /** The number of offers, refusals included. */
  offers = 0;
  readonly #refuses: () => boolean;

  constructor(refuses: () => boolean = () => false) {
    this.#refuses = refuses;
  }

  frame(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#take({ text: textOf(bytes, start, end) });
  }

  item(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#take({ text: textOf(bytes, start, end) });
  }

  oversized(bytes: Uint8Array, start: number, end: number, totalBytes: number): boolean {
    return this.#take({ text: textOf(bytes, start, end), totalBytes });
  }

  unreadable(error: Error, needsList?: boolean): void {
    this.faults.push(error);
    this.needsList = needsList;
  }

  get texts(): string[] {
    return this.taken.map(({ text }) => text);
  }

  /** The pieces, parsed. */
  get values(): unknown[] {
    return this.texts.map((text) => JSON.parse(text) as unknown);
  }

  #take(piece: Piece): boolean {
    this.offers++;
    if (this.#refuses()) return false;
    this.taken.push(piece);
    return true;
  }
}

interface Writer {
  write(chunk: Uint8Array, start: number, sink: Collector): number;
}

/**
 * Writes `body` cut at `cuts`. Overwrites the chunk's memory once it is consumed: code that still needs it
 * fails.
 */
export function writeInPieces(
  writer: Writer,
  body: Uint8Array,
  cuts: readonly number[],
  sink: Collector,
): void {
  const bounds = [0, ...cuts, body.length];
  for (let index = 1; index < bounds.length; index++) {
    const chunk = Buffer.from(body.subarray(bounds[index - 1], bounds[index]));
    let at = 0;
    do {
      at = writer.write(chunk, at, sink);
    } while (at < chunk.length);
    chunk.fill(0);
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.slice(start, end)).toString('utf8');
}
