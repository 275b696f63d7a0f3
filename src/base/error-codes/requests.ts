/** Errors on the way to the server: configuration, credentials, connection, and answers that refuse. */
export const REQUEST_ERRORS = {
  ERR_KUBELOOM_KUBECONFIG: [
    ['thrown', 'onError', 'health'],
    'The kubeconfig does not lead to a server: a part is missing, contradictory or unusable.',
    'Correct the part that the message names.',
  ],
  ERR_KUBELOOM_CREDENTIALS: [
    ['thrown', 'onError', 'health'],
    'The credentials of the user cannot be obtained: a file is unreadable, or a plugin gives none in time.',
    'Run the plugin by hand, and check the files that the message names.',
  ],
  ERR_KUBELOOM_CREDENTIALS_KEPT: [
    ['onError'],
    'A file of credentials or certificates became unusable while the program runs. The previous ones are used on.',
    'Restore the file before the previous credentials expire.',
  ],
  ERR_KUBELOOM_PLUGIN_REFUSED: [
    ['thrown', 'onError', 'health'],
    'The kubeconfig would run a credential plugin that the policy does not allow.',
    'Allow the command with `restrictCredentialPlugins`, if you trust the kubeconfig.',
  ],
  ERR_KUBELOOM_PLAIN_HTTP: [
    ['thrown', 'onError', 'health'],
    'Credentials would travel to another machine unencrypted.',
    'Use an https: server, or a context without a user.',
  ],
  ERR_KUBELOOM_TLS_UNVERIFIED: [
    ['warning'],
    'The kubeconfig switches the check of the certificate off for its server (insecure-skip-tls-verify).',
    'Put the certificate of the authority into the kubeconfig.',
  ],
  ERR_KUBELOOM_TLS: [
    ['thrown', 'onError', 'health'],
    'The certificate of the server or of the client is not accepted.',
    'Check certificate-authority, tls-server-name and the client certificate of the kubeconfig.',
  ],
  ERR_KUBELOOM_PROXY: [
    ['thrown', 'onError', 'health'],
    'The proxy is of an unsupported kind, refuses the credentials, or does not connect to the server.',
    'Check proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY, and the credentials in the URL of the proxy.',
  ],
  ERR_KUBELOOM_UNREACHABLE: [
    ['thrown', 'onError', 'health'],
    'No connection can be made: the name is unknown, or no server answers at that address.',
    'Check the address and whether the server runs. Informers try again.',
  ],
  ERR_KUBELOOM_CONNECTION_RESET: [
    ['thrown', 'onError', 'health'],
    'The connection was closed before the answer was complete.',
    'Nothing, if it is rare: informers try again. Otherwise check proxies and load balancers on the way.',
  ],
  ERR_KUBELOOM_STALLED: [
    ['thrown', 'onError', 'health'],
    'The server has sent nothing for too long.',
    'Check the load of the server, and whether a proxy holds answers back. Informers try again.',
  ],
  ERR_KUBELOOM_HTTP: [
    ['thrown', 'onError', 'health'],
    'The request failed in the HTTP protocol: the answer is not valid HTTP, is compressed without request, or cannot be inflated.',
    "Check that an apiserver has this address, and the proxies on the way; `compression: 'off'` requests no gzip.",
  ],
  ERR_KUBELOOM_REDIRECT: [
    ['thrown', 'onError', 'health'],
    'The server answered with a redirect, which could carry credentials away.',
    'Put the final address into the kubeconfig.',
  ],
  ERR_KUBELOOM_BAD_REQUEST: [
    ['thrown', 'onError', 'health'],
    'The server does not accept the request (400).',
    'Check the label and field selectors and the other list options.',
  ],
  ERR_KUBELOOM_UNAUTHORIZED: [
    ['thrown', 'onError', 'health'],
    'The server does not accept the credentials (401).',
    'Renew the credentials of the user in the kubeconfig.',
  ],
  ERR_KUBELOOM_FORBIDDEN: [
    ['thrown', 'onError', 'health'],
    'The user may not do that (403).',
    'Allow the user the verb on the resource (RBAC): an informer needs list and watch.',
  ],
  ERR_KUBELOOM_GONE: [
    ['thrown', 'onError', 'health'],
    'The server no longer has that part of the history (410).',
    'Nothing: informers list again.',
  ],
  ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE: [
    ['thrown', 'onError', 'health'],
    'The server is behind a version that was received before.',
    'Nothing: informers list again. If it stays, a replica of the server has lost its data.',
  ],
  ERR_KUBELOOM_TOO_MANY_REQUESTS: [
    ['thrown', 'onError', 'health'],
    'The server is overloaded (429).',
    'Nothing: informers wait and try again. If it stays, check its priority and fairness settings.',
  ],
  ERR_KUBELOOM_INTERNAL: [
    ['thrown', 'onError', 'health'],
    'The server reports an error of its own (500).',
    'Read the log of the apiserver. Informers try again.',
  ],
  ERR_KUBELOOM_STORE_READ: [
    ['thrown', 'onError', 'health'],
    'The server could not read an object in etcd.',
    'Read the log of the apiserver. Informers list again.',
  ],
  ERR_KUBELOOM_SERVER_TIMEOUT: [
    ['thrown', 'onError', 'health'],
    'The server could not answer in time.',
    'Nothing, if it is rare: informers try again. Otherwise check the load of apiserver and etcd.',
  ],
  ERR_KUBELOOM_ALREADY_EXISTS: [
    ['thrown', 'onError'],
    'An object of this name exists (409), or a Lease of a group lacks the label of the group.',
    'Read that object; decide whether it is yours before you change it.',
  ],
  ERR_KUBELOOM_CONFLICT: [
    ['thrown'],
    'The object has changed since it was read, or has another uid than the precondition (409).',
    'Read the object again and repeat the change.',
  ],
  ERR_KUBELOOM_APPLY_CONFLICT: [
    ['thrown'],
    'An apply would change fields that another manager owns (409): `conflicts` of the error names fields and managers.',
    'Leave these fields out of the applied object, or take them over with the option force of apply.',
  ],
  ERR_KUBELOOM_INEXACT_INTEGER: [
    ['thrown'],
    'The write would change an integer beyond 2^53, which JavaScript read inexactly.',
    'Send a patch with only the members that you change.',
  ],
  ERR_KUBELOOM_SERVER_WARNING: [
    ['warning'],
    'The server accepted a request with a warning, such as for a deprecated version or an unknown field.',
    'Follow the warning, or receive warnings with the option `onWarning` of the client.',
  ],
  ERR_KUBELOOM_INVALID: [
    ['thrown'],
    'The server refuses the contents of an object (422).',
    'Correct the fields: `causes` of the error names them.',
  ],
  ERR_KUBELOOM_WRITE_UNCONFIRMED: [
    ['thrown'],
    'A write was sent and its answer is missing: it may have happened or not.',
    'Read the object before you repeat the write.',
  ],
  ERR_KUBELOOM_HTTP_STATUS: [
    ['thrown', 'onError', 'health'],
    'The server answered with another status than those above.',
    'Read `httpStatus` and `serverMessage` of the error; check proxies on the way.',
  ],
} as const;
