/** Freezes a tree of any depth: it is not recursive, because an object of a server may be deeper than the stack. */
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
