/** JSON of values of any depth up to 10,000 levels, as apiservers store them; JSON.stringify overflows the stack before that. */

import { types } from 'node:util';

/** The limit of Go's decoder; it also ends cycles that are longer than the stack. */
const LEVELS_MAX = 10_000;

interface Level {
  readonly value: object;
  readonly names: readonly string[];
  next: number;
  hasMembers: boolean;
}

/**
 * Returns the text that JSON.stringify returns, without its limit.
 *
 * @throws TypeError for a cycle or a bigint, RangeError beyond 10,000 levels
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return textOfDeep(value);
  }
}

function textOfDeep(root: unknown): string {
  const parts: string[] = [];
  const levels: Level[] = [];
  open(replaced('', root), parts, levels);
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const isArray = Array.isArray(level.value);
    const name = level.names[level.next++];
    if (name === undefined) {
      parts.push(isArray ? ']' : '}');
      levels.pop();
      continue;
    }
    const member = replaced(name, Reflect.get(level.value, name));
    const text = isBranch(member) ? '' : (JSON.stringify(member) as string | undefined);
    if (text === undefined && !isArray) continue;
    if (level.hasMembers) parts.push(',');
    level.hasMembers = true;
    if (!isArray) parts.push(JSON.stringify(name), ':');
    if (isBranch(member)) open(member, parts, levels);
    else parts.push(text ?? 'null');
  }
  return parts.join('');
}

function open(value: unknown, parts: string[], levels: Level[]): void {
  if (levels.length === LEVELS_MAX) throw new RangeError(`it has more than ${LEVELS_MAX} levels`);
  const isArray = Array.isArray(value);
  const names = isArray ? Array.from(value, (_, index) => String(index)) : Object.keys(Object(value));
  parts.push(isArray ? '[' : '{');
  levels.push({ value: Object(value) as object, names, next: 0, hasMembers: false });
}

function replaced(name: string, value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value, name) as unknown) : value;
}

/** Boxed values are leaves. */
function isBranch(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return !types.isBoxedPrimitive(value);
}
