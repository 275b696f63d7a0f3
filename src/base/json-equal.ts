/**
 * Comparisons of values as their JSON: a member that is undefined does not exist, -0 is 0, and a Date is its text. A
 * comparison needs no stack for the levels of a value: apiservers store up to 10,000.
 */

const LEVELS_MAX = 10_000;

/** Returns whether the JSON of both values is equal, apart from the order of members. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  return isMatch(one, other, (members, others) => members === others);
}

/**
 * Returns whether the wanted value is in the stored value: an object may contain further members, at every level; a list has
 * equal items in the same order.
 */
export function containsJson(stored: unknown, wanted: unknown): boolean {
  return isMatch(wanted, stored, () => true);
}

/** @param isSize compares the numbers of members of two objects */
function isMatch(one: unknown, other: unknown, isSize: (one: number, other: number) => boolean): boolean {
  const open: (readonly [one: unknown, other: unknown, level: number])[] = [[one, other, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [a, b, level] = [plain(next[0]), plain(next[1]), next[2]];
    if (a === b) continue;
    if (!isBranch(a) || !isBranch(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    // No server stores such a value, and a cycle would not end.
    if (level === LEVELS_MAX) return false;
    const [names, others] = [namesOf(a), namesOf(b)];
    if (Array.isArray(a) ? names.length !== others.length : !isSize(names.length, others.length))
      return false;
    for (const name of names) {
      if (!Object.hasOwn(b, name)) return false;
      open.push([a[name], b[name], level + 1]);
    }
  }
  return true;
}

type Branch = Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

/** Returns the value as JSON.stringify reads it. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (!isBranch(value) || typeof value['toJSON'] !== 'function') return value;
  return value['toJSON']() as unknown;
}

function namesOf(value: Branch): string[] {
  const names = Object.keys(value);
  return Array.isArray(value) ? names : names.filter((name) => value[name] !== undefined);
}
