/**
 * Checks that the records outside of lists are the server's history: no gap, no repetition, no other order,
 * and never back in time.
 */
import assert from 'node:assert/strict';
import type { Seen } from './twin.ts';

export interface Change {
  /** ADDED, MODIFIED or DELETED. */
  readonly type: string;
  readonly name: string;
  readonly resourceVersion: number;
}

export class HistoryCheck {
  #position = 0;
  #isListing = false;
  /** Returns the server's first change after a version. */
  readonly #nextAfter: (resourceVersion: number) => Change | undefined;

  constructor(nextAfter: (resourceVersion: number) => Change | undefined) {
    this.#nextAfter = nextAfter;
  }

  apply(record: Seen): void {
    const version = Number(record.resourceVersion);
    const next = this.#nextAfter(this.#position);
    switch (record.kind) {
      case 'ReplaceBegin':
        this.#isListing = true;
        return;
      case 'ReplaceAbort':
        this.#isListing = false;
        return;
      case 'ReplaceEnd':
        this.#isListing = false;
        assert.ok(version >= this.#position, 'never back in time');
        break;
      case 'Bookmark':
        assert.ok(!next || next.resourceVersion > version, 'a bookmark comes after what it covers');
        break;
      default:
        if (this.#isListing) return;
        assert.deepEqual(
          { type: record.kind.toUpperCase(), name: record.name, resourceVersion: version },
          next && { type: next.type, name: next.name, resourceVersion: next.resourceVersion },
        );
    }
    this.#position = version;
  }
}
