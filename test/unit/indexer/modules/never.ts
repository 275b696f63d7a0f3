/** A module that never loads: its top-level await does not end. */
export function found(object: unknown): unknown {
  return object;
}

await new Promise(() => undefined);
