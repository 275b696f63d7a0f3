/**
 * Changes of single lines of a watch. The functions are pure except for the memory of earlier lines that a rule keeps.
 */

import type { StreamAction } from './fault-rules.ts';

export interface LineMemory {
  /** The first line that was seen of each key. */
  readonly byKey: Map<string, Buffer>;
  /** The line that waits for the next event of another object. */
  held: Buffer | undefined;
}

export interface ChangedLine {
  readonly lines: Buffer[];
  /** True when the fault has happened on this line; false when the rule only prepares for it. */
  readonly isLanded: boolean;
}

const OBJECT = Buffer.from('"object":{');

export function typeOf(line: Buffer): string {
  return /^\{"type":"([A-Z]+)"/.exec(line.toString('latin1', 0, 32))?.[1] ?? '';
}

export function resourceVersionOf(line: Buffer): number {
  return Number(/"resourceVersion":"(\d+)"/.exec(line.toString('latin1'))?.[1] ?? 0);
}

/** Returns a short text for a line: `MODIFIED default/a@5`. */
export function described(line: Buffer): string {
  return `${typeOf(line)} ${keyOf(line)}@${resourceVersionOf(line)}`;
}

/** @returns undefined when the action does not concern this line */
export function changeLine(action: StreamAction, line: Buffer, memory: LineMemory): ChangedLine | undefined {
  const type = typeOf(line);
  switch (action.type) {
    case 'duplicate':
      return type === 'BOOKMARK' ? undefined : { lines: [line, line], isLanded: true };
    case 'drop':
      return type === action.of ? { lines: [], isLanded: true } : undefined;
    case 'older':
      return older(line, memory);
    case 'swap':
      return swapped(line, type, memory);
    case 'retype':
      if (type !== action.from) return undefined;
      return { lines: [replaced(line, `"type":"${type}"`, `"type":"${action.to}"`)], isLanded: true };
    case 'graft': {
      if (type !== 'ADDED' && type !== 'MODIFIED') return undefined;
      const member = Buffer.concat([
        Buffer.from(`${JSON.stringify(action.name)}:`),
        Buffer.from(action.value, 'base64'),
      ]);
      return { lines: [grafted(line, member)], isLanded: true };
    }
    default:
      return undefined;
  }
}

function older(line: Buffer, memory: LineMemory): ChangedLine {
  const key = keyOf(line);
  const before = memory.byKey.get(key);
  if (before === undefined) {
    memory.byKey.set(key, line);
    return { lines: [line], isLanded: false };
  }
  return { lines: [line, before], isLanded: true };
}

/** Deletions and additions stay in their places, because swapping them with others would change their meaning. */
function swapped(line: Buffer, type: string, memory: LineMemory): ChangedLine | undefined {
  const { held } = memory;
  if (held === undefined) {
    if (type !== 'MODIFIED') return undefined;
    memory.held = line;
    return { lines: [], isLanded: false };
  }
  memory.held = undefined;
  if (keyOf(held) === keyOf(line)) return { lines: [held, line], isLanded: false };
  return { lines: [line, held], isLanded: true };
}

function keyOf(line: Buffer): string {
  const text = line.toString('utf8');
  const name = /"name":"([^"]*)"/.exec(text)?.[1] ?? '';
  const namespace = /"namespace":"([^"]*)"/.exec(text)?.[1] ?? '';
  return `${namespace}/${name}`;
}

function replaced(line: Buffer, from: string, to: string): Buffer {
  const at = line.indexOf(from);
  return Buffer.concat([line.subarray(0, at), Buffer.from(to), line.subarray(at + Buffer.byteLength(from))]);
}

/** Adds the member behind everything else in the object, because readers of keys read only as far as metadata. */
function grafted(line: Buffer, member: Buffer): Buffer {
  const end = line.lastIndexOf('}}');
  const isEmpty = line.indexOf(OBJECT) + OBJECT.length === end;
  return Buffer.concat([line.subarray(0, end), Buffer.from(isEmpty ? '' : ','), member, line.subarray(end)]);
}
