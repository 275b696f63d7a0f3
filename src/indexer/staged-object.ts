/** Data that the stages of a shard pass on. */
import type { GoHead } from '../kube/json/projection.ts';
import type { Structure } from '../shared/record/msgpack.ts';
import type { Warning } from './warning.ts';

/** An object on its way through the stages of a shard; reused for every record. */
export interface StagedObject {
  /** The bytes as received, then as the stages changed them. */
  bytes: Buffer;
  start: number;
  end: number;
  /** Whether the bytes differ from those in the log. */
  isInline: boolean;
  /** Places in the object as received, if its fields are in Go's order. */
  goHead: GoHead | undefined;
  /** Bits of NotificationFlag. */
  flags: number;
  readonly warnings: Warning[];
  /** New structures of the msgpack table. */
  structures: { readonly first: number; readonly structures: readonly Structure[] } | undefined;
}
