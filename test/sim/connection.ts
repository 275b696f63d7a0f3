/**
 * One request and its answer, over a network that splits bytes at any place and delivers when the simulator
 * says so. It keeps the promises of `ResponseSink` and no others: it reuses the memory of a chunk at once.
 */
import type { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import { KubeloomError } from '../../src/base/errors.ts';
import type { HttpExchange, HttpRequest, ResponseSink } from '../../src/http/http.ts';
import type { WireRecord } from './oracle/histories.ts';

const LINE_FEED = 0x0a;

/** Bytes in flight; their meaning takes effect when the last of them, apart from a line feed, has arrived. */
interface Parcel {
  readonly bytes: Buffer;
  readonly arrived: WireRecord | undefined;
}

type Item =
  | { readonly kind: 'head'; readonly status: number; readonly headers: Record<string, string> }
  | ({ readonly kind: 'bytes' } & Parcel)
  | { readonly kind: 'end'; readonly error: KubeloomError | undefined; readonly arrived?: WireRecord };

type State = 'asked' | 'open' | 'over';

export class Connection implements HttpExchange {
  readonly number: number;
  readonly path: string;
  readonly query: URLSearchParams;
  /** True when the other end is gone without closing the connection. */
  isSilent = false;
  isPaused = false;
  #state: State = 'asked';
  readonly #sink: ResponseSink;
  readonly #write: (record: WireRecord) => void;
  #items: Item[] = [];
  readonly #cancelTimeout: () => void;

  constructor(
    number: number,
    request: HttpRequest,
    sink: ResponseSink,
    clock: FakeClock,
    write: (record: WireRecord) => void,
  ) {
    const [path = '', query = ''] = request.path.split('?');
    this.number = number;
    this.path = path;
    this.query = new URLSearchParams(query);
    this.#sink = sink;
    this.#write = write;
    const { timeoutMs = 60_000 } = request;
    this.#cancelTimeout = clock.schedule(timeoutMs, () => {
      if (this.#state !== 'asked') return;
      this.#over(new KubeloomError('ERR_KUBELOOM_STALLED', `no answer in ${timeoutMs} ms`));
    });
  }

  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  /** True when something can be delivered. */
  get isReady(): boolean {
    return this.#state !== 'over' && !this.isPaused && !this.isSilent && this.#items.length > 0;
  }

  /** True when every sent byte has arrived. */
  get isDrained(): boolean {
    return this.#items.length === 0;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(): void {
    if (this.#state === 'over') return;
    this.#closed('closed by the client');
  }

  head(status: number, headers: Record<string, string> = {}): void {
    this.#items.push({ kind: 'head', status, headers });
  }

  send(bytes: Buffer, arrived?: WireRecord): void {
    this.#items.push({ kind: 'bytes', bytes, arrived });
  }

  /** @param arrived record to write when the whole answer has arrived */
  end(error?: KubeloomError, arrived?: WireRecord): void {
    this.#items.push({ kind: 'end', error, ...(arrived ? { arrived } : {}) });
  }

  /** Drops the bytes that have not arrived, except the first `bytesMax`. */
  cut(bytesMax: number, error?: KubeloomError): void {
    const kept: Item[] = [];
    let left = bytesMax;
    for (const item of this.#items) {
      // All of it has arrived.
      if (item.kind === 'end' && error === undefined) return;
      if (item.kind === 'end' || left === 0) break;
      if (item.kind === 'head') {
        kept.push(item);
        continue;
      }
      const isWhole = item.bytes.length <= left;
      const arrived = hasArrived(item.bytes, left) ? item.arrived : undefined;
      kept.push(isWhole ? item : { ...item, bytes: item.bytes.subarray(0, left), arrived });
      left -= Math.min(left, item.bytes.length);
    }
    this.#items = [...kept, { kind: 'end', error }];
  }

  /** Delivers the next part, at most `bytesMax` bytes. */
  deliver(bytesMax: number): void {
    const item = this.#items.shift();
    if (item?.kind === 'head') {
      this.#state = 'open';
      this.#cancelTimeout();
      this.#sink.head(item.status, item.headers);
    } else if (item?.kind === 'bytes') {
      this.#deliverBytes(item, bytesMax);
    } else if (item) {
      if (item.arrived) this.#write(item.arrived);
      this.#over(item.error);
    }
  }

  /** Delivers several parcels in one chunk at times. */
  #deliverBytes(first: Parcel, bytesMax: number): void {
    const parts: Buffer[] = [];
    const arrived: WireRecord[] = [];
    let left = bytesMax;
    let parcel: Parcel | undefined = first;
    while (parcel && left > 0) {
      parts.push(parcel.bytes.subarray(0, left));
      const rest: Buffer = parcel.bytes.subarray(left);
      left -= Math.min(left, parcel.bytes.length);
      const isEvent = hasArrived(rest, 0);
      if (isEvent && parcel.arrived) arrived.push(parcel.arrived);
      if (rest.length > 0) {
        this.#items.unshift({ kind: 'bytes', bytes: rest, arrived: isEvent ? undefined : parcel.arrived });
        break;
      }
      const next: Item | undefined = this.#items[0];
      if (next?.kind !== 'bytes') break;
      parcel = next;
      if (left > 0) this.#items.shift();
    }
    const chunk = Buffer.concat(parts);
    for (const record of arrived) this.#write(record);
    this.#sink.data(chunk);
    chunk.fill('#');
  }

  #over(error: KubeloomError | undefined): void {
    this.#closed(error?.code ?? 'end');
    this.#sink.end(error);
  }

  #closed(why: string): void {
    this.#state = 'over';
    this.#items = [];
    this.#cancelTimeout();
    this.#write({ what: 'closed', connection: this.number, why });
  }
}

/** Returns whether the first bytes of a parcel are an event: the line feed may come later, or never. */
function hasArrived(bytes: Buffer, length: number): boolean {
  return length >= bytes.length - (bytes.at(-1) === LINE_FEED ? 1 : 0);
}
