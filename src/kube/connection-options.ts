/** How to reach a server, as the threads of the pipeline receive it, and the parameters of a request. */
/** Header values by name; a list is sent as a line for each value. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Connection to an apiserver: all options of a TLS socket and a request, without functions. */
export interface ConnectionOptions {
  /** Scheme, host, port, and an optional base path: `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
  readonly headers: Headers;
  /** URL of the HTTP proxy, credentials included. */
  readonly proxy?: string;
  /** Informer whose ListerWatcher, on the main thread, replaces the server. */
  readonly feed?: number;
}

/** Query parameters of a request, before encoding. */
export type Query = Readonly<Record<string, string>>;
