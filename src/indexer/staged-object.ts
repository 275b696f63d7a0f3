/**
 * What the stages of a shard hand from one to the next: an object and what became of it.
 */
import type { GoHead } from '../json/projection.ts';
import type { Structure } from '../record/msgpack.ts';
import type { Warning } from './warning.ts';

/** One object and what became of it; reused for every record. */
export interface StagedObject {
  /** Where it was received, then what the stages made of it. */
  bytes: Buffer;
  start: number;
  end: number;
  /** The bytes are not those in the log. */
  isInline: boolean;
  /** Of the object as received, if it is in Go's order. */
  goHead: GoHead | undefined;
  /** Of NotificationFlag. */
  flags: number;
  readonly warnings: Warning[];
  /** New in the msgpack table. */
  structures: { readonly first: number; readonly structures: readonly Structure[] } | undefined;
}
