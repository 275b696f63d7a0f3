/** A violation of an invariant. A correct run has none. */
export interface Violation {
  /** `I6`: see docs/reliability.md. */
  readonly invariant: string;
  readonly message: string;
  readonly at?: number;
}

/** One file of invariants: from histories to violations. */
export type Check<Input> = (input: Input) => readonly Violation[];

export function violation(invariant: string, message: string, at?: number): Violation {
  return at === undefined ? { invariant, message } : { invariant, message, at };
}

export function describe({ invariant, message, at }: Violation): string {
  return `${invariant}${at === undefined ? '' : ` at ${at.toFixed(1)} ms`}: ${message}`;
}
