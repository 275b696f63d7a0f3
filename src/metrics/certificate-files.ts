/**
 * The certificate and key of a server, from files that are read again: a rotation of the files needs no restart. While the
 * files are unusable, such as between the writes of certificate and key, the server uses the last good pair.
 */
import { readFile, stat } from 'node:fs/promises';
import type { createSecureContext } from 'node:tls';
import { KubeloomError, firstLineOf } from '../base/errors.ts';

/** Files of certificates. */
export interface TlsFiles {
  /** PEM file of the certificate, with the intermediate certificates after it. */
  readonly certFile: string;
  /** PEM file of the private key. */
  readonly keyFile: string;
}

export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export class CertificateFiles {
  readonly #files: TlsFiles;
  readonly #createContext: typeof createSecureContext;
  #good: CertificatePair | undefined;
  #reported = '';

  constructor(files: TlsFiles, createContext: typeof createSecureContext) {
    this.#files = files;
    this.#createContext = createContext;
  }

  /** Reads the files for the first time. @throws ERR_KUBELOOM_OPTION, naming the file */
  async first(): Promise<CertificatePair> {
    this.#good = await this.#read();
    return this.#good;
  }

  /**
   * Reads the files again, and returns a pair that has changed.
   *
   * @throws ERR_KUBELOOM_CREDENTIALS_KEPT, once for each reason, when the files cannot be used
   */
  async changed(): Promise<CertificatePair | undefined> {
    try {
      const next = await this.#read();
      this.#reported = '';
      if (this.#good?.cert.equals(next.cert) && this.#good.key.equals(next.key)) return undefined;
      this.#good = next;
      return next;
    } catch (cause) {
      const why = firstLineOf(cause);
      if (this.#reported === why) return undefined;
      this.#reported = why;
      const message = `${why}; the server uses the previous certificate until the files are right again`;
      throw new KubeloomError('ERR_KUBELOOM_CREDENTIALS_KEPT', message, { cause });
    }
  }

  async #read(): Promise<CertificatePair> {
    const { certFile, keyFile } = this.#files;
    const pair = { cert: await readPem('certFile', certFile), key: await readPem('keyFile', keyFile) };
    try {
      this.#createContext(pair);
    } catch (cause) {
      const message = `tls: ${certFile} and ${keyFile} are not a certificate with its key: ${firstLineOf(cause)}`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message, { cause });
    }
    return pair;
  }
}

async function readPem(option: keyof TlsFiles, path: string): Promise<Buffer> {
  try {
    // A pipe or a device would never end.
    if ((await stat(path)).isFile()) return await readFile(path);
  } catch (cause) {
    const message = `tls.${option} cannot be read: ${firstLineOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message, { cause });
  }
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `tls.${option}: ${path} is not a regular file`);
}
