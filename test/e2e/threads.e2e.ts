/** The caches of two threads beside a LIST of a real kube-apiserver. */
import { threadsFollow } from '../unit/thread/server-suite.ts';
import { clusterOfTests } from './control-plane.ts';

const cluster = clusterOfTests();

threadsFollow('real kube-apiserver', () => {
  const { kubeConfig, threads, controlPlane } = cluster();
  return Promise.resolve({ kubeConfig, threads, forgetHistory: () => controlPlane.compact() });
});
