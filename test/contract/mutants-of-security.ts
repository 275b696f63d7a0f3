/** Mutants of the clauses about security. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const SECURITY_MUTANTS: readonly Mutant[] = inFiles({
  'src/http/server-address.ts': {
    C182: [
      'connection.rejectUnauthorized !== false',
      "(connection.rejectUnauthorized ?? process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0')",
    ],
    C185: ['this.proxy !== undefined && !this.isTls', 'this.proxy !== undefined'],
    C253: ['allowPartialTrustChain: true', 'allowPartialTrustChain: false'],
    C190: ['`${method} ${target} HTTP/1.1`', '`POST ${target} HTTP/1.1`'],
  },
  'src/kube/status.ts': { C183: ["return 'ERR_KUBELOOM_REDIRECT'", "return 'ERR_KUBELOOM_HTTP_STATUS'"] },
  'src/http/credentials/credentials.ts': {
    C184: ['[cluster.server, ...(proxy === undefined ? [] : [proxy])]', '[proxy ?? cluster.server]'],
    C201: ['...identityHeaders(user)', '...{}'],
  },
  'src/http/credentials/plugin-process.ts': {
    C186: ['run.clock.schedule(run.timeoutMs,', 'run.clock.schedule(2 * run.timeoutMs,'],
  },
  'src/http/credentials/last-good.ts': { C187: ['!good || !isFileToBlame(error)', 'true'] },
  'src/http/credentials/kubeconfig.ts': { C188: ['!(error instanceof YAMLException)', 'true'] },
  'src/kube/confirm-usable.ts': { C250: ['hasCertificate(user) && !hasKey(user)', 'false'] },
  'src/http/credentials/read-file.ts': {
    C194: ['file.size > bytesMax', 'false'],
    C251: ['!file.isFile() && !isPipe', 'false'],
  },
  'src/http/credentials/exec-credentials.ts': {
    C252: ['...added, KUBERNETES_EXEC_INFO: this.#info', 'KUBERNETES_EXEC_INFO: this.#info, ...added'],
  },
  'src/tools/apiserver/store/json.ts': {
    C271: [
      'Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })',
      'object[name] = value',
    ],
  },
  'src/base/secrets.ts': { C270: ['hidden.replaceAll(secret, HIDDEN)', 'hidden'] },
  'src/base/errors.ts': {
    C189: [
      'super(escapeControls(hideSecrets(messageOf(message))),',
      'super(hideSecrets(messageOf(message)),',
    ],
  },
  'src/http/http1-connection.ts': { C191: ["encoding === 'identity'", 'true'] },
  'src/http/inflated-response.ts': { C191: ['RATIO_MAX * this.#receivedBytes', 'Infinity'] },
  'src/http/watch-frames.ts': {
    C192: ['this.#partial.totalBytes > LINE_BYTES_MAX', 'false'],
    C450: ['this.#objectKey.from(bytes, key + 1) < end', 'false'],
  },
  'src/indexer/msgpack-encoder.ts': { C193: ["key === '__proto__'", 'false'] },
  'src/kube/json/skip.ts': { C321: ['return deepValueEnd(bytes, start, end)', 'return -1'] },
  'src/replica/store/part-reader.ts': { C322: ['entry.facts.hasUid(value)', 'true'] },
  'src/replica/store/extracted-fields.ts': { C193: ["path === '__proto__'", 'false'] },
  'src/kube/json/key-spans.ts': { C323: ['out.hasOtherType = true', 'out.hasOtherType = false'] },
  'src/base/loopback.ts': {
    C195: ["bare === 'localhost'", "(bare === 'localhost' || bare.startsWith('127.'))"],
  },
  'src/shared/ring/ring.ts': { C196: ['length >= RECORD_HEADER_BYTES && length <= this.capacity', 'true'] },
});
