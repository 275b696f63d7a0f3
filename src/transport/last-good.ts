/**
 * Rotated files are replaced while they are read, are empty for a moment, or are garbage because somebody made a
 * mistake. client-go's rule: what was good goes on being used, and that is reported, until the file is good again.
 */
import { KubeloomError } from '../errors.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { secureContextOf } from './tls-material.ts';
import type { TlsMaterial } from './tls-material.ts';

/** A file is there, and what is in it cannot be what was meant. */
export class UnusableFile extends KubeloomError {
  constructor(message: string) {
    super('ERR_KUBELOOM_CREDENTIALS', message);
  }
}

export class LastGood {
  readonly #report: (error: KubeloomError) => void;
  #good: ConnectionOptions | undefined;
  /** What was reported last: once is enough while nothing changes. */
  #reported = '';

  constructor(report: (error: KubeloomError) => void) {
    this.#report = report;
  }

  /** @throws what `read` throws when there is no last one, or when no file is to blame */
  async of(read: () => Promise<ConnectionOptions>): Promise<ConnectionOptions> {
    const good = this.#good;
    try {
      const next = await read();
      const trouble = isSameMaterial(next, good) ? undefined : troubleWith(next);
      if (trouble === undefined) {
        this.#good = next;
        this.#reported = '';
        return next;
      }
      // Whoever has no better one is told by the handshake what is wrong.
      if (!good) return next;
      this.#keep(`the CA, client certificate or client key cannot be used (${trouble})`);
      const { ca: _ca, cert: _cert, key: _key, ...others } = next;
      this.#good = { ...others, ...materialOf(good) };
      return this.#good;
    } catch (error) {
      if (!good || !isFileToBlame(error)) throw error;
      this.#keep(error instanceof Error ? error.message : String(error));
      return good;
    }
  }

  #keep(why: string): void {
    if (this.#reported === why) return;
    this.#reported = why;
    const message = `${why}; what was there before is used on until the file is right again`;
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
  const { cert, key } = connection;
  if (cert === '' || key === '') return 'empty';
  try {
    secureContextOf(connection);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

/** The operating system could not read it, or what was read is nothing. */
function isFileToBlame(error: unknown): boolean {
  if (error instanceof UnusableFile) return true;
  if (!(error instanceof Error)) return false;
  const isOfFile = 'syscall' in error && ['open', 'read', 'stat'].includes(String(error.syscall));
  return isOfFile || isFileToBlame(error.cause);
}
