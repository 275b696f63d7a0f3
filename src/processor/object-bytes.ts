/** Where the bytes of one object are during its merge: in the log, in a ring, or put together from parts. */

export interface ObjectBytes {
  /** Valid until the record is released. */
  bytes: Buffer;
  start: number;
  length: number;
}
