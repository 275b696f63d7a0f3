/** The gates of a soak: from its windows to one line for each gate. Pure. */
import type { Rest } from './window-record.ts';

/** The part of a window that the gates read. */
export interface WindowResult {
  readonly violations: readonly string[];
  readonly faults: number;
  readonly changes: number;
  readonly rest: Rest;
}

export interface Gate {
  readonly name: string;
  readonly isMet: boolean;
  readonly seen: string;
}

const CHANGES_MIN = 20;
/** With fewer windows the descriptors of both halves are not compared: a process opens some of them late. */
export const HALVES_MIN = 12;

/** The promises, by the first words of their violations. */
const PROMISES: readonly (readonly [name: string, prefix: string])[] = [
  ['nothing lost, doubled or reordered', 'history'],
  ['no stale cache', 'stale'],
  ['one owner, and every change worked', 'group'],
  ['one thread a key, and every change worked', 'pool'],
  ['everything comes to rest', 'no rest'],
  ['no report without a cause', 'report'],
  ['every scrape answered, no counter back', 'scrape'],
  ['every fault struck', 'fault that'],
  ['every process lives', 'ended'],
];

export function gatesOf(windows: readonly WindowResult[]): Gate[] {
  const violations = windows.flatMap((window) => window.violations);
  const gate = (name: string, broken: readonly string[]): Gate => ({
    name,
    isMet: broken.length === 0,
    seen: `${broken.length} ${broken[0] ?? ''}`.trim(),
  });
  const others = violations.filter((text) => !PROMISES.some(([, prefix]) => text.startsWith(prefix)));
  return [
    ...PROMISES.map(([name, prefix]) =>
      gate(
        name,
        violations.filter((text) => text.startsWith(prefix)),
      ),
    ),
    // A violation that no gate names is one as well.
    gate('nothing else', others),
    loadGate(windows),
    sameGate(windows, 'threads'),
    sameGate(windows, 'listeners'),
    heldGate(windows),
    descriptorsGate(windows),
  ];
}

/** A run without load, or without faults, proves nothing. */
function loadGate(windows: readonly WindowResult[]): Gate {
  const least = Math.min(...windows.map(({ changes }) => changes));
  const faults = windows.reduce((sum, window) => sum + window.faults, 0);
  const seen = `${faults} faults; ${windows.length === 0 ? 0 : least} changes in the window with the fewest`;
  return { name: 'load and faults', isMet: windows.length > 0 && least >= CHANGES_MIN && faults > 0, seen };
}

function sameGate(windows: readonly WindowResult[], what: 'threads' | 'listeners'): Gate {
  const counts = new Set(windows.map(({ rest }) => rest[what]));
  const isMet = counts.size <= 1 && !counts.has(Number.NaN);
  return { name: `as many ${what} after each window`, isMet, seen: [...counts].join(', ') };
}

function heldGate(windows: readonly WindowResult[]): Gate {
  const held = Math.max(0, ...windows.map(({ rest }) => rest.handlersHeld));
  return { name: 'handlers that were removed are garbage', isMet: held === 0, seen: `${held} are held` };
}

/** Each count of the last half is above each count of the first half if descriptors leak, whatever a window opens. */
function descriptorsGate(windows: readonly WindowResult[]): Gate {
  const name = 'descriptors do not leak';
  if (windows.length < HALVES_MIN)
    return { name, isMet: true, seen: `not judged: ${windows.length} windows of ${HALVES_MIN}` };
  const counts = windows.map(({ rest }) => rest.descriptors);
  const half = Math.floor(counts.length / 2);
  const [most, least] = [Math.max(...counts.slice(0, half)), Math.min(...counts.slice(half))];
  return { name, isMet: least <= most, seen: `most in the first half ${most}, least in the last ${least}` };
}
