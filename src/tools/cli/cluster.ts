/** The cluster, the namespace and the objects that the flags of a command choose. */
import { loadKubeConfig } from '../../index.ts';
import type { InformerOptions, LoadedKubeConfig } from '../../index.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { ClusterFlags, NamespaceFlags, SelectionFlags } from './cluster-flags.ts';

/** @throws ERR_KUBELOOM_KUBECONFIG */
export function kubeConfigOf({ kubeconfig, context }: ClusterFlags): LoadedKubeConfig {
  return loadKubeConfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
}

/** Returns the namespace of the flags, or else of the context. As for kubectl an empty flag is no flag: it must not choose all. */
export function namespaceOf(kubeConfig: LoadedKubeConfig, { namespace }: NamespaceFlags): string {
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  return namespace || context?.namespace || 'default';
}

/** Returns the options of an informer for the chosen objects of a resource. */
export function selectionOf(
  kubeConfig: LoadedKubeConfig,
  ref: ResourceRef,
  flags: SelectionFlags,
): Pick<InformerOptions<unknown>, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  const { selector, fieldSelector } = flags;
  const isWhole = !ref.isNamespaced || flags.allNamespaces === true;
  return {
    ...(isWhole ? {} : { namespace: namespaceOf(kubeConfig, flags) }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
