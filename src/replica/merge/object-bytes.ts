/** The place of one object's bytes during its merge: in the log, in a ring, or in a buffer joined from parts. */

export interface ObjectBytes {
  /** Valid until the record is released. */
  bytes: Buffer;
  start: number;
  length: number;
}
