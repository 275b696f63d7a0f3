/** The service account of docs/loadtest/rbac.yaml, which has the rights of a load test and no other ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, KubernetesObjectApi } from '@kubernetes/client-node';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../unit/docs/documents.ts';
import type { ControlPlane } from './control-plane.ts';

const ACCOUNT = { name: 'kubeloom-loadtest', namespace: 'kubeloom-loadtest' };

/** Creates the account. @returns its kubeconfig as text */
export async function limitedKubeConfig({ kubeconfigPath, server, caData }: ControlPlane): Promise<string> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfigPath);
  const objects = KubernetesObjectApi.makeApiClient(kubeConfig);
  for (const document of parseAllDocuments(readFileSync(join(ROOT, 'docs/loadtest/rbac.yaml'), 'utf8'))) {
    await objects.create(document.toJS() as KubernetesObject);
  }
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const body = { spec: { audiences: ['https://kubernetes.default.svc'] } };
  const { status } = await api.createNamespacedServiceAccountToken({ ...ACCOUNT, body });
  const limited = new KubeConfig();
  limited.loadFromClusterAndUser(
    { name: 'e2e', server, caData, skipTLSVerify: false },
    { name: 'service account', token: status?.token ?? '' },
  );
  return limited.exportConfig();
}
