/** Faults of a body that a server reports as the request demands (`fieldValidation`): unknown fields and repeated members. */

import type { Member } from '../store/read-json.ts';
import { quote } from '../store/status.ts';

/** Go stops to count. */
const FAULTS_MAX = 100;

export function unknownField(path: string): string {
  return `unknown field ${quote(path)}`;
}

/** Returns each fault once, in the order in which Go meets it in the text. Nothing below an unknown field is a fault. */
export function strictFaults(members: readonly Member[], unknown: readonly string[] = []): string[] {
  const rest = new Set(unknown);
  const faults = new Set<string>();
  let skipped = '';
  for (const { path, isRepeated } of members) {
    if (rest.has(path)) faults.add(unknownField((skipped = path)));
    else if (isRepeated && !isBelow(path, skipped)) faults.add(`duplicate field ${quote(path)}`);
  }
  return [...faults, ...unknown.map(unknownField).filter((fault) => !faults.has(fault))].slice(0, FAULTS_MAX);
}

function isBelow(path: string, field: string): boolean {
  return field !== '' && (path.startsWith(`${field}.`) || path.startsWith(`${field}[`));
}
