/** The requests that the server has received: `requests()` and `rbac()` of the control API. */
import { authorizedVerbOf, parseResourcePath } from './request-info.ts';
import type { RequestRecord } from './request-info.ts';
import { Rights } from './rights.ts';

const RECORDS_MAX = 10_000;

/** @internal The last requests, oldest first. */
export class RequestLog {
  /** The rights that all requests need, also those of requests that are forgotten. */
  readonly rights: Rights = new Rights();
  #records: RequestRecord[] = [];

  add(record: RequestRecord): void {
    this.#records.push(record);
    if (this.#records.length > 2 * RECORDS_MAX) this.#records = this.#records.slice(-RECORDS_MAX);
    const path = parseResourcePath(record.path);
    if (!path) return;
    this.rights.add(path, authorizedVerbOf(record, path));
    // A client that lists in a watch lists without it on a server that cannot stream.
    if (record.watch && record.query['sendInitialEvents'] === 'true') this.rights.add(path, 'list');
  }

  /** Adds the right that a request needs besides its verb's: an apply of a new object creates it. */
  created({ path: url }: RequestRecord): void {
    const path = parseResourcePath(url);
    if (path) this.rights.add(path, 'create');
  }

  all(): RequestRecord[] {
    return this.#records.slice(-RECORDS_MAX);
  }

  clear(): void {
    this.#records = [];
    this.rights.clear();
  }
}
