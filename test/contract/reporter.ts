/**
 * Reporter of node:test for run.ts: prints a line of JSON for each test that ran, and for the turns of each file. A test
 * that a name pattern excludes does not run.
 */
import { STANDSTILL, TURNS } from './standstill.ts';

export interface TestLine {
  readonly title: string;
  readonly isPassed: boolean;
  /** Whether the test's file ended because it waited for an event that did not come. */
  readonly isStill: boolean;
  /** Whether a limit of time ended the test. */
  readonly isTimedOut: boolean;
  readonly error: string;
}

/** A line of the output: a test, or the turns of a file. */
export type ReportedLine = TestLine | { readonly turns: number };

export interface ReportedEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    /** Output of a test file. */
    readonly message?: string;
    readonly skip?: string | boolean;
    readonly details?: {
      /** `suite` for a describe block. */
      readonly type?: string;
      readonly error?: {
        readonly failureType?: string;
        /** Exit code of a file's process. */
        readonly exitCode?: number | null;
        readonly message?: string;
        readonly cause?: { readonly message?: string };
      };
    };
  };
}

/** Messages of a signal's limit, and of a test within a suite whose limit has passed. */
const LIMIT = /aborted due to timeout|did not finish before its parent/;

/** Returns the line for an event; undefined for an event that says nothing of a test. */
export function lineOf({ type, data }: ReportedEvent): ReportedLine | undefined {
  const turns = type === 'test:stdout' ? TURNS.exec(data.message ?? '')?.[1] : undefined;
  if (turns !== undefined) return { turns: Number(turns) };
  if ((type !== 'test:pass' && type !== 'test:fail') || data.skip !== undefined) return undefined;
  const { error, type: kind } = data.details ?? {};
  // A passed suite adds no information; a failed suite may have failed in a hook.
  if (kind === 'suite' && type === 'test:pass') return undefined;
  const text = error ? `${error.message ?? ''} ${error.cause?.message ?? ''}`.replaceAll(/\s+/g, ' ') : '';
  return {
    title: data.name ?? '',
    isPassed: type === 'test:pass',
    isStill: error?.exitCode === STANDSTILL,
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
