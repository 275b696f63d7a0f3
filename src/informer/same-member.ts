/** Comparison of a member in two states of an object, by bytes if both states hold bytes. */
import { isDeepStrictEqual } from 'node:util';
import type { Borrowed } from '../replica/store/cached-object.ts';
import { Entry } from '../replica/store/entry.ts';

/** @param name of a member of the object's top level, such as `spec` */
export function isSameMember(a: Borrowed<unknown>, b: Borrowed<unknown>, name: string): boolean {
  if (a instanceof Entry && b instanceof Entry && a.owner === b.owner)
    return b.owner.reader.isMemberSame(a, b, name);
  return isDeepStrictEqual(a.member(name), b.member(name));
}
