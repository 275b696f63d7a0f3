/**
 * Makes a tree read-only at every depth. A later write throws at the line that writes (modules are strict code).
 * Accepts trees only. A loop instead of recursion, because a server decides how deep an object is.
 */
export function deepFreeze(root: unknown): void {
  if (typeof root !== 'object' || root === null) return;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    Object.freeze(parent);
    for (const name in parent) {
      const child: unknown = parent[name as keyof typeof parent];
      if (typeof child === 'object' && child !== null) pending.push(child);
    }
  }
}
