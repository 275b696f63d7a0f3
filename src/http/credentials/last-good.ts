/**
 * The last good content of rotated files. They are replaced while they are read, are empty for a moment, or
 * are garbage by mistake. client-go's rule: the last good content stays in use, and this is reported, until
 * the file is good again.
 */
import { KubeloomError, messageOf } from '../../base/errors.ts';
import type { ConnectionOptions } from '../../kube/connection-options.ts';
import { UnusableFile } from './read-file.ts';
import { secureContextOf } from '../server-address.ts';
import type { TlsMaterial } from '../server-address.ts';

export class LastGood {
  readonly #report: (error: KubeloomError) => void;
  #good: ConnectionOptions | undefined;
  /** The last report; an equal report is not repeated. */
  #reported = '';

  constructor(report: (error: KubeloomError) => void) {
    this.#report = report;
  }

  /**
   * @param read receives whether there is a last good content to replace a failure
   * @throws the error of `read` when there is no last good content, or when no file is at fault
   */
  async of(read: (hasGood: boolean) => Promise<ConnectionOptions>): Promise<ConnectionOptions> {
    const good = this.#good;
    try {
      const next = await read(good !== undefined);
      const trouble = isSameMaterial(next, good) ? undefined : troubleWith(next);
      if (trouble === undefined) {
        this.#good = next;
        this.#reported = '';
        return next;
      }
      // Without an earlier content, the TLS handshake reports the error.
      if (!good) return next;
      this.#keep(`the CA, client certificate or client key cannot be used (${trouble})`);
      const { ca: _ca, cert: _cert, key: _key, ...others } = next;
      this.#good = { ...others, ...materialOf(good) };
      return this.#good;
    } catch (error) {
      if (!good || !isFileToBlame(error)) throw error;
      this.#keep(messageOf(error));
      return good;
    }
  }

  #keep(why: string): void {
    if (this.#reported === why) return;
    this.#reported = why;
    const message = `${why}; the last good content stays in use until the file is repaired`;
    this.#report(new KubeloomError('ERR_KUBELOOM_CREDENTIALS_KEPT', message));
  }
}

function materialOf({ ca, cert, key }: ConnectionOptions): TlsMaterial {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function isSameMaterial(one: ConnectionOptions, other: ConnectionOptions | undefined): boolean {
  return one.ca === other?.ca && one.cert === other?.cert && one.key === other?.key;
}

function troubleWith(connection: ConnectionOptions): string | undefined {
  try {
    secureContextOf(connection);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

/** Returns whether a file is at fault: it could not be read, or the content is unusable. */
function isFileToBlame(error: unknown): boolean {
  if (error instanceof UnusableFile) return true;
  if (!(error instanceof Error)) return false;
  const isOfFile = 'syscall' in error && ['open', 'read', 'stat'].includes(String(error.syscall));
  return isOfFile || isFileToBlame(error.cause);
}
