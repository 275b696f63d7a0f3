/** The file of a Unix socket: removed when its server has died, and never taken from one that is alive. */

import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { KubeloomError, messageOf } from '../base/errors.ts';

/** The longest path that all systems take, in bytes. */
const PATH_BYTES_MAX = 103;

/** @throws ERR_KUBELOOM_USAGE when no socket can be made at this path */
export async function freeSocketPath(path: string): Promise<void> {
  if (path === '' || Buffer.byteLength(path) > PATH_BYTES_MAX) {
    throw refused(path, `a path of a Unix socket has 1 to ${PATH_BYTES_MAX} bytes; name a shorter one`);
  }
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw refused(path, error.message, error);
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw refused(path, 'it exists and is not a socket; name another file');
  if (await isServed(path))
    throw refused(path, 'another process listens on it; stop it, or name another file');
  await rm(path).catch((error: Error) => {
    throw refused(path, `the socket that is left there cannot be removed: ${error.message}`, error);
  });
}

async function isServed(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
    throw refused(path, messageOf(error), error);
  } finally {
    socket.destroy();
  }
}

function refused(path: string, reason: string, cause?: unknown): KubeloomError {
  const message = `the mirror cannot listen on ${JSON.stringify(path)}: ${reason}`;
  return new KubeloomError('ERR_KUBELOOM_USAGE', message, { cause });
}
