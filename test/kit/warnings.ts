/** Warnings of the process that a test reads instead of printing them. */
import type { TestContext } from 'node:test';

export interface Warning {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  readonly detail?: string;
}

/** Returns the warnings from now on to the end of the test. */
export function processWarnings({ mock }: Pick<TestContext, 'mock'>): Warning[] {
  const seen: Warning[] = [];
  mock.method(process, 'emitWarning', (message: string, options: Omit<Warning, 'message'>) =>
    seen.push({ message, ...options }),
  );
  return seen;
}
