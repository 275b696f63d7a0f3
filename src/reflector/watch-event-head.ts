/**
 * The beginning of a watch event that is too long to be kept: its type and where its object begins.
 */
import { decodeStringToken } from '../json/read.ts';
import { skipString, skipValue } from '../json/skip.ts';
import { afterMember, openObject, valueAfterKey } from '../json/walk.ts';

export interface WatchEventHead {
  readonly type: string;
  readonly objectStart: number;
}

/** @returns undefined when the type does not come before the object, as apiservers write it */
export function readWatchEventHead(bytes: Buffer, start: number, end: number): WatchEventHead | undefined {
  let type: string | undefined;
  let at = openObject(bytes, start, end);
  while (at >= 0 && at < end) {
    const keyEnd = skipString(bytes, at, end);
    const key = keyEnd < 0 ? undefined : decodeStringToken(bytes, at, keyEnd);
    const value = valueAfterKey(bytes, keyEnd, end);
    if (key === undefined || value < 0) return undefined;
    if (key === 'object') return type === undefined ? undefined : { type, objectStart: value };
    const valueEnd = skipValue(bytes, value, end);
    if (key === 'type') type = decodeStringToken(bytes, value, valueEnd);
    at = afterMember(bytes, valueEnd, end);
  }
  return undefined;
}
