/** The closest known name to a wrong one, for messages. */

/** The largest number of edits in a typing error. */
const EDITS_MAX = 2;

/** Returns the name that differs least; undefined when all of them differ by more than a typing error or an ending. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = names
    .map((name) => ({ name, edits: editsBetween(lower, name.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  // In a short name two edits leave nothing of the original.
  if (best && best.edits <= Math.min(EDITS_MAX, Math.floor(lower.length / 2))) return best.name;
  return names.find((name) => lower !== '' && name.toLowerCase().startsWith(lower));
}

/** Returns how many characters must be inserted, removed or replaced: Levenshtein's distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
