/** Records the calls of a transport, in order. */
import type { KubeloomError } from '../../../../src/base/errors.ts';
import type { ResponseSink } from '../../../../src/reflector/transport/http.ts';

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
