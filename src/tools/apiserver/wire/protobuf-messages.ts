/**
 * The protobuf messages of the objects that `kubectl create` makes, from the numbers of Kubernetes' API. A field is written
 * `name=number:type`: `!` keeps a zero (a pointer in Go), `[]` is a list, `{}` a map from text.
 */

export interface MessageField {
  readonly name: string;
  readonly type: string;
  readonly form: 'single' | 'list' | 'map';
  /** True if a zero or an empty text is a value, not an absent field. */
  readonly keepsZero: boolean;
}

const TABLE = `
ObjectMeta name=1:string generateName=2:string namespace=3:string selfLink=4:string uid=5:string resourceVersion=6:string generation=7:int creationTimestamp=8:Time deletionTimestamp=9:Time deletionGracePeriodSeconds=10:int! labels=11:string{} annotations=12:string{} ownerReferences=13:OwnerReference[] finalizers=14:string[]
DeleteOptions gracePeriodSeconds=1:int! preconditions=2:Preconditions orphanDependents=3:bool! propagationPolicy=4:string! dryRun=5:string[] ignoreStoreReadErrorWithClusterBreakingPotential=6:bool!
Preconditions uid=1:string! resourceVersion=2:string!
Eviction metadata=1:ObjectMeta deleteOptions=2:DeleteOptions
OwnerReference apiVersion=5:string kind=1:string name=3:string uid=4:string controller=6:bool! blockOwnerDeletion=7:bool!
LabelSelector matchLabels=1:string{} matchExpressions=2:LabelSelectorRequirement[]
LabelSelectorRequirement key=1:string operator=2:string values=3:string[]
LocalObjectReference name=1:string
ConfigMap metadata=1:ObjectMeta immutable=4:bool! data=2:string{} binaryData=3:bytes{}
Secret metadata=1:ObjectMeta immutable=5:bool! data=2:bytes{} stringData=4:string{} type=3:string
Namespace metadata=1:ObjectMeta spec=2:NamespaceSpec status=3:NamespaceStatus
NamespaceSpec finalizers=1:string[]
NamespaceStatus phase=1:string
ServiceAccount metadata=1:ObjectMeta imagePullSecrets=3:LocalObjectReference[] automountServiceAccountToken=4:bool!
Deployment metadata=1:ObjectMeta spec=2:DeploymentSpec status=3:DeploymentStatus
DeploymentSpec replicas=1:int! selector=2:LabelSelector template=3:PodTemplateSpec strategy=4:DeploymentStrategy minReadySeconds=5:int revisionHistoryLimit=6:int! paused=7:bool progressDeadlineSeconds=9:int!
DeploymentStrategy type=1:string rollingUpdate=2:RollingUpdateDeployment
RollingUpdateDeployment maxUnavailable=1:IntOrString maxSurge=2:IntOrString
DeploymentStatus observedGeneration=1:int replicas=2:int updatedReplicas=3:int readyReplicas=7:int availableReplicas=4:int unavailableReplicas=5:int
PodTemplateSpec metadata=1:ObjectMeta spec=2:PodSpec
PodSpec containers=2:Container[] initContainers=20:Container[] restartPolicy=3:string terminationGracePeriodSeconds=4:int! activeDeadlineSeconds=5:int! dnsPolicy=6:string nodeSelector=7:string{} serviceAccountName=8:string serviceAccount=9:string automountServiceAccountToken=21:bool! nodeName=10:string hostNetwork=11:bool hostPID=12:bool hostIPC=13:bool hostname=16:string subdomain=17:string schedulerName=19:string priorityClassName=24:string priority=25:int! imagePullSecrets=15:LocalObjectReference[]
Container name=1:string image=2:string command=3:string[] args=4:string[] workingDir=5:string ports=6:ContainerPort[] env=7:EnvVar[] resources=8:ResourceRequirements terminationMessagePath=13:string terminationMessagePolicy=20:string imagePullPolicy=14:string stdin=16:bool stdinOnce=17:bool tty=18:bool
ContainerPort name=1:string hostPort=2:int containerPort=3:int! protocol=4:string hostIP=5:string
EnvVar name=1:string value=2:string
ResourceRequirements limits=1:Quantity{} requests=2:Quantity{}
Service metadata=1:ObjectMeta spec=2:ServiceSpec status=3:ServiceStatus
ServiceSpec ports=1:ServicePort[] selector=2:string{} clusterIP=3:string clusterIPs=18:string[] type=4:string externalIPs=5:string[] sessionAffinity=7:string loadBalancerIP=8:string loadBalancerSourceRanges=9:string[] externalName=10:string externalTrafficPolicy=11:string healthCheckNodePort=12:int publishNotReadyAddresses=13:bool ipFamilies=19:string[] ipFamilyPolicy=17:string! internalTrafficPolicy=22:string!
ServicePort name=1:string protocol=2:string appProtocol=6:string! port=3:int! targetPort=4:IntOrString nodePort=5:int
ServiceStatus loadBalancer=1:LoadBalancerStatus
LoadBalancerStatus
Job metadata=1:ObjectMeta spec=2:JobSpec status=3:JobStatus
JobSpec parallelism=1:int! completions=2:int! activeDeadlineSeconds=3:int! backoffLimit=7:int! selector=4:LabelSelector manualSelector=5:bool! template=6:PodTemplateSpec ttlSecondsAfterFinished=8:int! completionMode=9:string! suspend=10:bool!
JobStatus active=4:int succeeded=5:int failed=6:int completedIndexes=7:string
CronJob metadata=1:ObjectMeta spec=2:CronJobSpec status=3:CronJobStatus
CronJobSpec schedule=1:string timeZone=8:string! startingDeadlineSeconds=2:int! concurrencyPolicy=3:string suspend=4:bool! jobTemplate=5:JobTemplateSpec successfulJobsHistoryLimit=6:int! failedJobsHistoryLimit=7:int!
CronJobStatus
JobTemplateSpec metadata=1:ObjectMeta spec=2:JobSpec
Role metadata=1:ObjectMeta rules=2:PolicyRule[]
ClusterRole metadata=1:ObjectMeta rules=2:PolicyRule[]
PolicyRule verbs=1:string[] apiGroups=2:string[] resources=3:string[] resourceNames=4:string[] nonResourceURLs=5:string[]
RoleBinding metadata=1:ObjectMeta subjects=2:Subject[] roleRef=3:RoleRef
ClusterRoleBinding metadata=1:ObjectMeta subjects=2:Subject[] roleRef=3:RoleRef
RoleRef apiGroup=1:string kind=2:string name=3:string
Subject kind=1:string apiGroup=2:string name=3:string namespace=4:string
PriorityClass metadata=1:ObjectMeta value=2:int! globalDefault=3:bool description=4:string preemptionPolicy=5:string!
SelfSubjectAccessReview metadata=1:ObjectMeta spec=2:SelfSubjectAccessReviewSpec status=3:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes=1:ResourceAttributes nonResourceAttributes=2:NonResourceAttributes
SubjectAccessReviewStatus allowed=1:bool denied=4:bool reason=2:string evaluationError=3:string
ResourceAttributes namespace=1:string verb=2:string group=3:string version=4:string resource=5:string subresource=6:string name=7:string
NonResourceAttributes path=1:string verb=2:string
`;

function fieldOf(text: string): [number, MessageField] {
  const [, name = '', number = '', type = '', suffix = ''] =
    /^(\w+)=(\d+):(\w+)(\[\]|\{\}|!|)$/.exec(text) ?? [];
  const form = suffix === '[]' ? 'list' : suffix === '{}' ? 'map' : 'single';
  return [Number(number), { name, type, form, keepsZero: suffix === '!' }];
}

/** Fields of each message by their number. */
export const MESSAGES: ReadonlyMap<string, ReadonlyMap<number, MessageField>> = new Map(
  TABLE.trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', ...fields]) => [name, new Map(fields.map(fieldOf))]),
);
