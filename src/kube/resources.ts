/**
 * Every built-in resource that a Kubernetes 1.35 or 1.36 server can list and watch, with or without feature gates
 * (component statuses can only be listed). Groups have the names of client-go's packages, resources those of its
 * methods: in lower case they are the resources' names in URLs. Checked against the discovery of a real server in
 * test/e2e.
 *
 * The types of a factory are derived from this table: `factory.apps.v1.deployments`.
 */
import { anObject } from '../base/option-checks.ts';
import type { ResourceRef } from './resource.ts';

/** Built-in resources by group and version. */
export const BUILT_IN_GROUPS = {
  core: {
    group: '',
    versions: {
      v1: {
        configMaps: { kind: 'ConfigMap', isNamespaced: true },
        endpoints: { kind: 'Endpoints', isNamespaced: true },
        events: { kind: 'Event', isNamespaced: true },
        limitRanges: { kind: 'LimitRange', isNamespaced: true },
        namespaces: { kind: 'Namespace', isNamespaced: false },
        nodes: { kind: 'Node', isNamespaced: false },
        persistentVolumeClaims: { kind: 'PersistentVolumeClaim', isNamespaced: true },
        persistentVolumes: { kind: 'PersistentVolume', isNamespaced: false },
        podTemplates: { kind: 'PodTemplate', isNamespaced: true },
        pods: { kind: 'Pod', isNamespaced: true },
        replicationControllers: { kind: 'ReplicationController', isNamespaced: true },
        resourceQuotas: { kind: 'ResourceQuota', isNamespaced: true },
        secrets: { kind: 'Secret', isNamespaced: true },
        serviceAccounts: { kind: 'ServiceAccount', isNamespaced: true },
        services: { kind: 'Service', isNamespaced: true },
      },
    },
  },
  admissionregistration: {
    group: 'admissionregistration.k8s.io',
    versions: {
      v1: {
        mutatingAdmissionPolicies: { kind: 'MutatingAdmissionPolicy', isNamespaced: false },
        mutatingAdmissionPolicyBindings: { kind: 'MutatingAdmissionPolicyBinding', isNamespaced: false },
        mutatingWebhookConfigurations: { kind: 'MutatingWebhookConfiguration', isNamespaced: false },
        validatingAdmissionPolicies: { kind: 'ValidatingAdmissionPolicy', isNamespaced: false },
        validatingAdmissionPolicyBindings: { kind: 'ValidatingAdmissionPolicyBinding', isNamespaced: false },
        validatingWebhookConfigurations: { kind: 'ValidatingWebhookConfiguration', isNamespaced: false },
      },
      v1beta1: {
        mutatingAdmissionPolicies: { kind: 'MutatingAdmissionPolicy', isNamespaced: false },
        mutatingAdmissionPolicyBindings: { kind: 'MutatingAdmissionPolicyBinding', isNamespaced: false },
      },
      v1alpha1: {
        mutatingAdmissionPolicies: { kind: 'MutatingAdmissionPolicy', isNamespaced: false },
        mutatingAdmissionPolicyBindings: { kind: 'MutatingAdmissionPolicyBinding', isNamespaced: false },
      },
    },
  },
  apiextensions: {
    group: 'apiextensions.k8s.io',
    versions: {
      v1: {
        customResourceDefinitions: { kind: 'CustomResourceDefinition', isNamespaced: false },
      },
    },
  },
  apiregistration: {
    group: 'apiregistration.k8s.io',
    versions: {
      v1: {
        apiServices: { kind: 'APIService', isNamespaced: false },
      },
    },
  },
  apiserverinternal: {
    group: 'internal.apiserver.k8s.io',
    versions: {
      v1alpha1: {
        storageVersions: { kind: 'StorageVersion', isNamespaced: false },
      },
    },
  },
  apps: {
    group: 'apps',
    versions: {
      v1: {
        controllerRevisions: { kind: 'ControllerRevision', isNamespaced: true },
        daemonSets: { kind: 'DaemonSet', isNamespaced: true },
        deployments: { kind: 'Deployment', isNamespaced: true },
        replicaSets: { kind: 'ReplicaSet', isNamespaced: true },
        statefulSets: { kind: 'StatefulSet', isNamespaced: true },
      },
    },
  },
  autoscaling: {
    group: 'autoscaling',
    versions: {
      v2: {
        horizontalPodAutoscalers: { kind: 'HorizontalPodAutoscaler', isNamespaced: true },
      },
      v1: {
        horizontalPodAutoscalers: { kind: 'HorizontalPodAutoscaler', isNamespaced: true },
      },
    },
  },
  batch: {
    group: 'batch',
    versions: {
      v1: {
        cronJobs: { kind: 'CronJob', isNamespaced: true },
        jobs: { kind: 'Job', isNamespaced: true },
      },
    },
  },
  certificates: {
    group: 'certificates.k8s.io',
    versions: {
      v1: {
        certificateSigningRequests: { kind: 'CertificateSigningRequest', isNamespaced: false },
      },
      v1beta1: {
        clusterTrustBundles: { kind: 'ClusterTrustBundle', isNamespaced: false },
        podCertificateRequests: { kind: 'PodCertificateRequest', isNamespaced: true },
      },
      v1alpha1: {
        clusterTrustBundles: { kind: 'ClusterTrustBundle', isNamespaced: false },
      },
    },
  },
  coordination: {
    group: 'coordination.k8s.io',
    versions: {
      v1: {
        leases: { kind: 'Lease', isNamespaced: true },
      },
      v1beta1: {
        leaseCandidates: { kind: 'LeaseCandidate', isNamespaced: true },
      },
      v1alpha2: {
        leaseCandidates: { kind: 'LeaseCandidate', isNamespaced: true },
      },
    },
  },
  discovery: {
    group: 'discovery.k8s.io',
    versions: {
      v1: {
        endpointSlices: { kind: 'EndpointSlice', isNamespaced: true },
      },
    },
  },
  events: {
    group: 'events.k8s.io',
    versions: {
      v1: {
        events: { kind: 'Event', isNamespaced: true },
      },
    },
  },
  flowcontrol: {
    group: 'flowcontrol.apiserver.k8s.io',
    versions: {
      v1: {
        flowSchemas: { kind: 'FlowSchema', isNamespaced: false },
        priorityLevelConfigurations: { kind: 'PriorityLevelConfiguration', isNamespaced: false },
      },
    },
  },
  networking: {
    group: 'networking.k8s.io',
    versions: {
      v1: {
        ingressClasses: { kind: 'IngressClass', isNamespaced: false },
        ingresses: { kind: 'Ingress', isNamespaced: true },
        ipAddresses: { kind: 'IPAddress', isNamespaced: false },
        networkPolicies: { kind: 'NetworkPolicy', isNamespaced: true },
        serviceCIDRs: { kind: 'ServiceCIDR', isNamespaced: false },
      },
      v1beta1: {
        ipAddresses: { kind: 'IPAddress', isNamespaced: false },
        serviceCIDRs: { kind: 'ServiceCIDR', isNamespaced: false },
      },
    },
  },
  node: {
    group: 'node.k8s.io',
    versions: {
      v1: {
        runtimeClasses: { kind: 'RuntimeClass', isNamespaced: false },
      },
    },
  },
  policy: {
    group: 'policy',
    versions: {
      v1: {
        podDisruptionBudgets: { kind: 'PodDisruptionBudget', isNamespaced: true },
      },
    },
  },
  rbac: {
    group: 'rbac.authorization.k8s.io',
    versions: {
      v1: {
        clusterRoleBindings: { kind: 'ClusterRoleBinding', isNamespaced: false },
        clusterRoles: { kind: 'ClusterRole', isNamespaced: false },
        roleBindings: { kind: 'RoleBinding', isNamespaced: true },
        roles: { kind: 'Role', isNamespaced: true },
      },
    },
  },
  resource: {
    group: 'resource.k8s.io',
    versions: {
      v1: {
        deviceClasses: { kind: 'DeviceClass', isNamespaced: false },
        resourceClaimTemplates: { kind: 'ResourceClaimTemplate', isNamespaced: true },
        resourceClaims: { kind: 'ResourceClaim', isNamespaced: true },
        resourceSlices: { kind: 'ResourceSlice', isNamespaced: false },
      },
      v1beta2: {
        deviceClasses: { kind: 'DeviceClass', isNamespaced: false },
        deviceTaintRules: { kind: 'DeviceTaintRule', isNamespaced: false },
        resourceClaimTemplates: { kind: 'ResourceClaimTemplate', isNamespaced: true },
        resourceClaims: { kind: 'ResourceClaim', isNamespaced: true },
        resourceSlices: { kind: 'ResourceSlice', isNamespaced: false },
      },
      v1beta1: {
        deviceClasses: { kind: 'DeviceClass', isNamespaced: false },
        resourceClaimTemplates: { kind: 'ResourceClaimTemplate', isNamespaced: true },
        resourceClaims: { kind: 'ResourceClaim', isNamespaced: true },
        resourceSlices: { kind: 'ResourceSlice', isNamespaced: false },
      },
      v1alpha3: {
        deviceTaintRules: { kind: 'DeviceTaintRule', isNamespaced: false },
        resourcePoolStatusRequests: { kind: 'ResourcePoolStatusRequest', isNamespaced: false },
      },
    },
  },
  scheduling: {
    group: 'scheduling.k8s.io',
    versions: {
      v1: {
        priorityClasses: { kind: 'PriorityClass', isNamespaced: false },
      },
      v1alpha2: {
        podGroups: { kind: 'PodGroup', isNamespaced: true },
        workloads: { kind: 'Workload', isNamespaced: true },
      },
      v1alpha1: {
        workloads: { kind: 'Workload', isNamespaced: true },
      },
    },
  },
  storage: {
    group: 'storage.k8s.io',
    versions: {
      v1: {
        csiDrivers: { kind: 'CSIDriver', isNamespaced: false },
        csiNodes: { kind: 'CSINode', isNamespaced: false },
        csiStorageCapacities: { kind: 'CSIStorageCapacity', isNamespaced: true },
        storageClasses: { kind: 'StorageClass', isNamespaced: false },
        volumeAttachments: { kind: 'VolumeAttachment', isNamespaced: false },
        volumeAttributesClasses: { kind: 'VolumeAttributesClass', isNamespaced: false },
      },
      v1beta1: {
        volumeAttributesClasses: { kind: 'VolumeAttributesClass', isNamespaced: false },
      },
    },
  },
  storagemigration: {
    group: 'storagemigration.k8s.io',
    versions: {
      v1beta1: {
        storageVersionMigrations: { kind: 'StorageVersionMigration', isNamespaced: false },
      },
    },
  },
} as const;

/** Built-in resources by group and version. */
export type BuiltInGroups = typeof BUILT_IN_GROUPS;

type ByName<T> = Readonly<Record<string, T>>;

/** A group without specific types. */
interface BuiltInGroup {
  readonly group: string;
  readonly versions: ByName<ByName<Pick<ResourceRef, 'kind' | 'isNamespaced'>>>;
}

const GROUPS: ByName<BuiltInGroup> = BUILT_IN_GROUPS;

/** The built-in resources by client-go's names of group, version and resource. */
export const BUILT_IN_TREE: ByName<ByName<ByName<ResourceRef>>> = mapped(GROUPS, ({ group, versions }) =>
  mapped(versions, (resources, version) =>
    mapped(resources, (scope, name) =>
      Object.freeze({ group, version, resource: name.toLowerCase(), ...scope }),
    ),
  ),
);

function mapped<T, R>(byName: ByName<T>, map: (value: T, name: string) => R): ByName<R> {
  return Object.fromEntries(Object.entries(byName).map(([name, value]) => [name, map(value, name)]));
}

/** Returns all built-in resources, version by version. */
export function builtInResources(): readonly ResourceRef[] {
  const versions = Object.values(BUILT_IN_TREE).flatMap((group) => Object.values(group));
  return versions.flatMap((version) => Object.values(version));
}

/** Returns the built-in resource of these names; undefined for all others. */
export function findBuiltIn(
  wanted: Pick<ResourceRef, 'group' | 'version' | 'resource'>,
): ResourceRef | undefined {
  anObject('wanted', wanted);
  return builtInResources().find(
    ({ group, version, resource }) =>
      group === wanted.group && version === wanted.version && resource === wanted.resource,
  );
}
