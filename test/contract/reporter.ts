/**
 * Reporter of node:test for run.ts: prints a line of JSON for each test that ran. A test that a name pattern excludes
 * does not run.
 */
export interface TestLine {
  readonly title: string;
  readonly isPassed: boolean;
  /** Whether a limit of time ended the test. */
  readonly isTimedOut: boolean;
  readonly error: string;
}

export interface ReportedEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly skip?: string | boolean;
    readonly details?: {
      /** `suite` for a describe block. */
      readonly type?: string;
      readonly error?: {
        readonly failureType?: string;
        readonly message?: string;
        readonly cause?: { readonly message?: string };
      };
    };
  };
}

/** Messages of a signal's limit, and of a test within a suite whose limit has passed. */
const LIMIT = /aborted due to timeout|did not finish before its parent/;

/** Returns the line for an event; undefined for an event that is no result of a test. */
export function lineOf({ type, data }: ReportedEvent): TestLine | undefined {
  if ((type !== 'test:pass' && type !== 'test:fail') || data.skip !== undefined) return undefined;
  const { error, type: kind } = data.details ?? {};
  // A passed suite adds no information; a failed suite may have failed in a hook.
  if (kind === 'suite' && type === 'test:pass') return undefined;
  const text = error ? `${error.message ?? ''} ${error.cause?.message ?? ''}` : '';
  return {
    title: data.name,
    isPassed: type === 'test:pass',
    isTimedOut: error?.failureType === 'testTimeoutFailure' || LIMIT.test(text),
    error: text,
  };
}

export default async function* reporter(events: AsyncIterable<ReportedEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const line = lineOf(event);
    if (line) yield `${JSON.stringify(line)}\n`;
  }
}
