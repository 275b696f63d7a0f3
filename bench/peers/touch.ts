/** A handler's reads of a parsed object: the same for every client, as far as the task requires. */
import { SENT_ANNOTATION } from '../task.ts';
import type { Handler } from '../task.ts';

interface Parsed {
  readonly metadata?:
    | {
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly resourceVersion?: string | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec?: unknown;
}

/** Returns the length of the key; checks that the other fields exist. */
export function touchParsed(object: Parsed, handler: Handler): number {
  const { namespace = '', name = '', annotations } = object.metadata ?? {};
  const key = `${namespace}/${name}`;
  if (handler === 'metadata' && annotations === undefined) throw new Error(`${key} has no annotations`);
  if (handler === 'object' && object.spec === undefined) throw new Error(`${key} has no spec`);
  return key.length;
}

/** Microseconds since the epoch; 0 when the source does not send them. */
export function sentUsOf(object: Parsed): number {
  return Number(object.metadata?.annotations?.[SENT_ANNOTATION] ?? 0);
}
