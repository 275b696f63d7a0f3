/** Mutants of the clauses about security. */
import type { Mutant } from './mutant.ts';

export const SECURITY_MUTANTS: readonly Mutant[] = [
  {
    clause: 'C182',
    file: 'src/reflector/transport/server-address.ts',
    find: 'connection.rejectUnauthorized !== false',
    replace: "(connection.rejectUnauthorized ?? process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0')",
  },
  {
    clause: 'C183',
    file: 'src/kube/status.ts',
    find: "return 'ERR_KUBELOOM_REDIRECT'",
    replace: "return 'ERR_KUBELOOM_HTTP_STATUS'",
  },
  {
    clause: 'C184',
    file: 'src/reflector/transport/credentials.ts',
    find: "server.startsWith('https:') || isLoopbackHost(first.hostname)",
    replace: 'true',
  },
  {
    clause: 'C185',
    file: 'src/reflector/transport/server-address.ts',
    find: 'this.proxy !== undefined && !this.isTls',
    replace: 'this.proxy !== undefined',
  },
  {
    clause: 'C186',
    file: 'src/reflector/transport/plugin-process.ts',
    find: 'run.clock.schedule(run.timeoutMs,',
    replace: 'run.clock.schedule(2 * run.timeoutMs,',
  },
  {
    clause: 'C187',
    file: 'src/reflector/transport/last-good.ts',
    find: '!good || !isFileToBlame(error)',
    replace: 'true',
  },
  {
    clause: 'C188',
    file: 'src/reflector/transport/kubeconfig.ts',
    find: "error.name === 'YAMLException'",
    replace: 'false',
  },
  {
    clause: 'C189',
    file: 'src/base/errors.ts',
    find: 'super(escapeControls(message),',
    replace: 'super(message,',
  },
  {
    clause: 'C190',
    file: 'src/reflector/transport/server-address.ts',
    find: '`GET ${target} HTTP/1.1`',
    replace: '`POST ${target} HTTP/1.1`',
  },
  {
    clause: 'C191',
    file: 'src/reflector/transport/http1-connection.ts',
    find: "encoding === 'identity'",
    replace: 'true',
  },
  {
    clause: 'C192',
    file: 'src/reflector/watch-body.ts',
    find: 'this.#frames.partialBytes > LINE_BYTES_MAX',
    replace: 'false',
  },
  {
    clause: 'C193',
    file: 'src/indexer/msgpack-encoder.ts',
    find: "key === '__proto__'",
    replace: 'false',
  },
  {
    clause: 'C194',
    file: 'src/reflector/transport/kubeconfig.ts',
    find: 'file.size > FILE_BYTES_MAX',
    replace: 'false',
  },
  {
    clause: 'C201',
    file: 'src/reflector/transport/credentials.ts',
    find: '...identityHeaders(user)',
    replace: '...{}',
  },
  {
    clause: 'C195',
    file: 'src/base/loopback.ts',
    find: "bare === 'localhost'",
    replace: "(bare === 'localhost' || bare.startsWith('127.'))",
  },
  {
    clause: 'C196',
    file: 'src/shared/ring/ring.ts',
    find: 'length >= RECORD_HEADER_BYTES && length <= this.capacity',
    replace: 'true',
  },
];
