/** A GET of a control plane without kubeloom and client-node: for paths and parameters that neither has. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './control-plane.ts';

/** @param accept media types that the answer may have */
export async function getText(
  controlPlane: ControlPlane,
  path: string,
  accept = 'application/json',
): Promise<string> {
  const asked = request(`${controlPlane.server}${path}`, {
    ca: Buffer.from(controlPlane.caData, 'base64'),
    headers: { authorization: `Bearer ${controlPlane.token}`, accept },
  });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  assert.equal(response.statusCode, 200, path);
  return text(response);
}
