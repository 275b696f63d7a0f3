/** Functions that a user might export, and that end or block the calling thread when an object requests it. */
import { closeSync, openSync } from 'node:fs';

interface Asking {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Annotation: the deed to do to the thread. */
const DEED = 'test/deed';
/** Annotation: path of a file; only the thread that creates it does the deed. */
const ONCE = 'test/once';

/** A transform that does the deed. */
export function perform(object: Asking): unknown {
  const { [DEED]: deed, [ONCE]: once } = object.metadata?.annotations ?? {};
  if (deed !== undefined && (once === undefined || isFirst(once))) DEEDS[deed]?.();
  return object;
}

const DEEDS: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(7),
  wait: () => hang(),
  loop: () => {
    for (;;);
  },
  allocate: () => {
    const kept: unknown[][] = [];
    for (;;) kept.push(Array.from({ length: 1024 }, () => ({ of: 'memory' })));
  },
};

function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function isFirst(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch {
    return false;
  }
}
