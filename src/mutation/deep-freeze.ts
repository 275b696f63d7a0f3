/** Makes a tree read-only at every depth. A write to it throws in the writer's line (modules are strict code). */

/** Trees only. Not recursive: how deep an object is, its author decides. */
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
