/** One answer of the server to a raw watcher: its status, its bytes, its end. */
import type { KubeloomError } from '../../../base/errors.ts';
import type { ResponseSink } from '../../../reflector/transport/http.ts';

export interface AnswerEnd {
  /** 0 without an answer. */
  readonly status: number;
  readonly error?: KubeloomError | undefined;
}

export interface AnswerReader {
  /** Called for the status 200, before its bytes. */
  accepted(): void;
  /** Takes bytes that are valid until it returns; those of other answers are dropped. */
  write(chunk: Buffer): void;
  ended(end: AnswerEnd): void;
}

const OK = 200;

export class RawAnswer implements ResponseSink {
  readonly #reader: AnswerReader;
  #status = 0;

  constructor(reader: AnswerReader) {
    this.#reader = reader;
  }

  head(status: number): void {
    this.#status = status;
    if (status === OK) this.#reader.accepted();
  }

  data(chunk: Uint8Array): void {
    if (this.#status !== OK) return;
    this.#reader.write(
      Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length),
    );
  }

  end(error: KubeloomError | undefined): void {
    this.#reader.ended({ status: this.#status, error });
  }
}
