/** Converts a directly given connection to a kubeconfig's cluster and user: the same rules hold for both. */
import type { RequestOptions } from 'node:https';
import type { ServerConnection } from '../../kube/server-source.ts';
import type { Target } from './kubeconfig.ts';

/** Used in messages in the place of a kubeconfig's user name. */
const USER_NAME = 'of the given connection';

export function targetOfConnection(connection: ServerConnection): Target {
  const { server, proxyUrl, tokenFile } = connection;
  const provider =
    tokenFile === undefined ? {} : { authProvider: { name: 'tokenFile', config: { tokenFile } } };
  return {
    cluster: {
      name: new URL(server).host,
      server,
      skipTLSVerify: false,
      ...(proxyUrl === undefined ? {} : { proxyUrl }),
    },
    user: { name: USER_NAME, ...provider },
  };
}

/** Returns what a KubeConfig would put into the options of a request. */
export function optionsOfConnection({
  ca,
  cert,
  key,
  tlsServerName,
  token,
}: ServerConnection): RequestOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  };
}
