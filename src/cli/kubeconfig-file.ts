/**
 * Writes the kubeconfig of an embedded server. The file holds a token, so only its owner may read it; it appears
 * complete or not at all; and it never replaces the kubeconfig of a real cluster.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { KubeloomError } from '../base/errors.ts';

/** The context that every kubeconfig of an embedded server has. */
const OURS = 'current-context: kubeloom-embedded';
const OWNER_ONLY = 0o600;

/** @throws ERR_KUBELOOM_KUBECONFIG_OUT when the file may not be replaced */
export async function wantKubeConfigTarget(path: string): Promise<void> {
  const isFile = await isRegularFile(path);
  if (isFile === undefined) return;
  if (!isFile) throw refused(path, 'it exists and is not a regular file');
  const content = await readFile(path, 'utf8');
  if (content.trim() === '' || content.includes(OURS)) return;
  throw refused(path, 'it exists and is not the kubeconfig of an embedded apiserver; name another file');
}

export async function writeKubeConfig(path: string, yaml: string): Promise<void> {
  await wantKubeConfigTarget(path);
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, yaml, { mode: OWNER_ONLY, flag: 'wx' });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw refused(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Returns undefined when there is no file. */
async function isRegularFile(path: string): Promise<boolean | undefined> {
  try {
    const found = await lstat(path);
    return found.isFile();
  } catch {
    return undefined;
  }
}

function refused(path: string, reason: string, cause?: unknown): KubeloomError {
  const message = `the kubeconfig cannot be written to ${path}: ${reason}`;
  return new KubeloomError('ERR_KUBELOOM_KUBECONFIG_OUT', message, cause === undefined ? {} : { cause });
}
