/** GETs of discovery documents, with the credentials of the cache. */
import type { KubeConfig } from '@kubernetes/client-node';
import { ApiClient } from '../controller/http-get.ts';
import { KubeloomError } from '../errors.ts';
import type { GetJson } from '../kube/discovery.ts';

/** For so long a server may be silent. */
const SILENCE_MS_MAX = 30_000;

/** @param signal ends those in progress */
export function jsonGetter(kubeConfig: KubeConfig, signal: AbortSignal): GetJson {
  const client = new ApiClient(kubeConfig);
  return async (path) => {
    const body = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      void client.get(
        { path, verb: 'LIST', signal, silenceMaxMs: SILENCE_MS_MAX },
        {
          opened: () => undefined,
          data: (chunk) => void chunks.push(Buffer.from(chunk)),
          end: (error) => (error ? reject(error) : resolve(Buffer.concat(chunks))),
        },
      );
    });
    try {
      return JSON.parse(body.toString()) as unknown;
    } catch (cause) {
      const message = `GET ${path}: the answer is not JSON; is this a Kubernetes apiserver?`;
      throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message, { cause });
    }
  };
}
