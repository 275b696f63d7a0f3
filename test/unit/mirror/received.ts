/** The wait until a mirror has what its origin has, by a read of that version. */
import type { Endpoint } from '../../../src/apiserver/kubeconfig.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { resourcePath } from '../../../src/index.ts';
import type { ResourceRef } from '../../../src/index.ts';
import { Client } from '../../semantics/client.ts';

export async function received(mirror: Endpoint, origin: EmbeddedApiServer, ref: ResourceRef): Promise<void> {
  const version = `resourceVersion=${await origin.revision()}&resourceVersionMatch=NotOlderThan`;
  const client = new Client(mirror);
  do await origin.sendBookmarks();
  while ((await client.get(`${resourcePath(ref)}?limit=1&${version}`)).status !== 200);
}
