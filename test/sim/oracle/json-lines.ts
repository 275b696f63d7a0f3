/** Histories as JSON lines, one record each, so that a failed run can be read, searched and judged again. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { emptyHistories } from './histories.ts';
import type { Histories } from './histories.ts';

type Lists = Omit<Histories, 'scopes'>;
type Line =
  | { readonly from: 'scope'; readonly informer: string; readonly scope: Histories['scopes'][string] }
  | { readonly from: keyof Lists; readonly record: unknown };

const LISTS = Object.keys(emptyHistories()).filter((name) => name !== 'scopes') as (keyof Lists)[];

export function toJsonLines(histories: Histories): string {
  const lines: Line[] = [];
  for (const [informer, scope] of Object.entries(histories.scopes)) {
    lines.push({ from: 'scope', informer, scope });
  }
  for (const from of LISTS) for (const record of histories[from]) lines.push({ from, record });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export function fromJsonLines(text: string): Histories {
  const histories = emptyHistories();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const parsed = JSON.parse(line) as Line;
    if (parsed.from === 'scope') histories.scopes[parsed.informer] = parsed.scope;
    else (histories[parsed.from] as unknown[]).push(parsed.record);
  }
  return histories;
}

export function writeHistories(path: string, histories: Histories): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toJsonLines(histories));
}
