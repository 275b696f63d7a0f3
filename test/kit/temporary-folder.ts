/** A folder for the files of a test, which is removed at the end of the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class TemporaryFolder implements AsyncDisposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'kubeloom-'));

  file(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file; returns its path. */
  write(name: string, text: string, mode: number = 0o644): string {
    writeFileSync(this.file(name), text, { mode });
    return this.file(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.path, { recursive: true });
  }
}
