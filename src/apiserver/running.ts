/** The embedded servers of this process by address, so that the owner of a kubeconfig finds its server. */

export interface RunningServer {
  readonly url: string;
  revision(): Promise<number>;
  sendBookmarks(): Promise<number>;
}

const running: Map<string, RunningServer> = new Map();

export function serverStarted(server: RunningServer): void {
  running.set(new URL(server.url).origin, server);
}

export function serverClosed(server: RunningServer): void {
  running.delete(new URL(server.url).origin);
}

/** @param url with or without a path */
export function runningServer(url: string): RunningServer | undefined {
  return URL.canParse(url) ? running.get(new URL(url).origin) : undefined;
}
