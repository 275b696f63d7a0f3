/** Reads a list item by item from the stream, so that a list of any size is never one string. */
import { KubeloomError } from '../../base/errors.ts';
import type { KubeList } from '../../kube/list-watch.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { HttpExchange } from '../../reflector/transport/http.ts';
import { ListItems } from '../../reflector/transport/list-items.ts';
import type { ItemSink } from '../../reflector/transport/list-items.ts';
import type { ResponseReader } from '../../reflector/api-client.ts';

/** The longest object: JavaScript strings end at twice that. */
export const OBJECT_BYTES_MAX: number = 256 * 1024 * 1024;

/** The type of a list's items; the server omits it in the items. */
export interface ItemType {
  readonly kind: string;
  readonly apiVersion: string;
}

export class HttpList<T> implements ResponseReader, ItemSink {
  readonly #type: ItemType;
  readonly #items: ListItems = new ListItems(OBJECT_BYTES_MAX);
  readonly #parsed: T[] = [];
  readonly #resolve: (list: KubeList<T>) => void;
  readonly #reject: (error: Error) => void;
  #response: HttpExchange | undefined;
  #error: KubeloomError | undefined;

  constructor(type: ItemType, resolve: (list: KubeList<T>) => void, reject: (error: Error) => void) {
    this.#type = type;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  opened(response: HttpExchange): void {
    this.#response = response;
  }

  data(chunk: Buffer): void {
    this.#items.write(chunk, 0, this);
  }

  end(error: Error | undefined): void {
    const failure = this.#error ?? error;
    try {
      if (failure) throw failure;
      this.#resolve(this.#list());
    } catch (cause) {
      this.#reject(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  item(bytes: Buffer, start: number, end: number): boolean {
    if (this.#error) return true;
    try {
      const item: unknown = JSON.parse(bytes.toString('utf8', start, end));
      if (!isRecord(item)) throw new TypeError('not an object');
      const { kind, apiVersion } = this.#type;
      // The caller declares the type of the items; it can be checked only that they are objects.
      this.#parsed.push({ kind, apiVersion, ...item } as T);
    } catch {
      // Without the cause: it quotes the text, which may be a Secret.
      const message = `item ${this.#parsed.length} of the list is not valid JSON`;
      this.#fail('ERR_KUBELOOM_LIST_MALFORMED', message, undefined);
    }
    return true;
  }

  oversized(_bytes: Buffer, _start: number, _end: number, totalBytes: number): boolean {
    const message = `item ${this.#parsed.length} of the list has ${totalBytes} bytes`;
    this.#fail('ERR_KUBELOOM_OBJECT_TOO_LARGE', message, undefined);
    return true;
  }

  #list(): KubeList<T> {
    const { kind, apiVersion, resourceVersion, ...rest } = this.#items.finish();
    return {
      ...(kind === undefined ? {} : { kind }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
      metadata: { resourceVersion, ...rest },
      items: this.#parsed,
    };
  }

  #fail(code: string, message: string, cause: unknown): void {
    this.#error ??= new KubeloomError(code, message, { cause });
    this.#response?.close();
  }
}
