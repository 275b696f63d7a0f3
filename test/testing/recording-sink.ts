/** Writes down what a transport tells, in the order of the telling. */
import type { KubeloomError } from '../../src/errors.ts';
import type { ResponseSink } from '../../src/transport/http.ts';

export class RecordingSink implements ResponseSink {
  readonly told: string[] = [];
  onData: () => void = () => undefined;

  head(status: number, headers: Record<string, string>): void {
    this.told.push(`head ${status} ${JSON.stringify(headers)}`);
  }

  data(chunk: Uint8Array): void {
    this.told.push(`data ${Buffer.from(chunk).toString()}`);
    this.onData();
  }

  end(error: KubeloomError | undefined): void {
    this.told.push(error ? `end ${error.code}` : 'end');
  }
}
