/** Reads discovery documents with the credentials of an InformersMap. */
import { ApiClient } from '../../reflector/api-client.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { GetJson } from '../../kube/discovery.ts';
import type { ServerSource } from '../../kube/server-source.ts';

/** Time without a byte after which a request fails. */
const SILENCE_MS_MAX = 30_000;

/** Returns a function that GETs a path. @param signal ends the requests in progress */
export function jsonGetter(source: ServerSource, signal: AbortSignal): GetJson {
  const client = new ApiClient(source);
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
