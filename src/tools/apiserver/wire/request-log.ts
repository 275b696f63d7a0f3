/** The requests that the server received: `requests()` of the control API. */

export interface RequestRecord {
  /** HTTP method: `GET`. */
  readonly method: string;
  /** Path of the URL without the query: `/api/v1/pods`. */
  readonly path: string;
  /** Query parameters, decoded; of a repeated parameter the last value. */
  readonly query: Readonly<Record<string, string>>;
  /** Whether the request is a GET with the parameter `watch`. */
  readonly watch: boolean;
  /** The revision of a list, or of the state with which a streaming list began. */
  listedRevision?: number;
}

const RECORDS_MAX = 10_000;

/** @internal The last requests, oldest first. */
export class RequestLog {
  #records: RequestRecord[] = [];

  add(record: RequestRecord): void {
    this.#records.push(record);
    if (this.#records.length > 2 * RECORDS_MAX) this.#records = this.#records.slice(-RECORDS_MAX);
  }

  all(): RequestRecord[] {
    return this.#records.slice(-RECORDS_MAX);
  }

  clear(): void {
    this.#records = [];
  }
}
