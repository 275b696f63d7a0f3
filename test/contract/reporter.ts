/**
 * Reporter of node:test for run.ts: prints a line of JSON for each test that ran. A test that a name pattern excludes
 * does not run.
 */
export interface TestLine {
  readonly title: string;
  readonly isPassed: boolean;
  readonly error: string;
}

interface ReportedEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly skip?: string | boolean;
    readonly details?: {
      /** `suite` for a describe block. */
      readonly type?: string;
      readonly error?: { readonly message?: string; readonly cause?: { readonly message?: string } };
    };
  };
}

export default async function* reporter(events: AsyncIterable<ReportedEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.skip !== undefined) continue;
    const { error, type: kind } = data.details ?? {};
    // A passed suite adds no information; a failed suite may have failed in a hook.
    if (kind === 'suite' && type === 'test:pass') continue;
    const line: TestLine = {
      title: data.name,
      isPassed: type === 'test:pass',
      error: error ? `${error.message ?? ''} ${error.cause?.message ?? ''}` : '',
    };
    yield `${JSON.stringify(line)}\n`;
  }
}
