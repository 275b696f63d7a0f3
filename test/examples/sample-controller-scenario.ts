/**
 * The scenario for the sample controller: it creates and changes Foos, and reports replicas instead of the deployment
 * controller. Each step waits for the controller's output, so that the output is always the same. Runs against the
 * embedded apiserver and a real one.
 */
import { AppsV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import type { KubeConfig, V1Deployment } from '@kubernetes/client-node';
import type { Program } from './program.ts';

const NAMESPACE = 'default';
const GROUP = 'samplecontroller.example.com';
const FOOS = { group: GROUP, version: 'v1alpha1', plural: 'foos', namespace: NAMESPACE };

export interface FooSpec {
  readonly deploymentName?: string;
  readonly replicas?: number;
}

export interface Foo {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: FooSpec;
  readonly status?: { readonly availableReplicas?: number };
}

/** Creates a Deployment without an owner before the program starts, so that the first list contains it. */
export async function obstruct(kubeConfig: KubeConfig): Promise<void> {
  const labels = { app: 'taken' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:latest' }] } };
  const body = { metadata: { name: 'taken' }, spec: { selector: { matchLabels: labels }, template } };
  await kubeConfig.makeApiClient(AppsV1Api).createNamespacedDeployment({ namespace: NAMESPACE, body });
}

export class SampleControllerScenario {
  readonly #apps: AppsV1Api;
  readonly #customObjects: CustomObjectsApi;
  readonly #program: Program;

  constructor(kubeConfig: KubeConfig, program: Program) {
    this.#apps = kubeConfig.makeApiClient(AppsV1Api);
    this.#customObjects = kubeConfig.makeApiClient(CustomObjectsApi);
    this.#program = program;
  }

  /** Runs the scenario from start to end, after `obstruct`. */
  async play(): Promise<void> {
    await this.makes();
    await this.reportsStatus();
    await this.scales();
    await this.retriesWhatIsNotItsOwn();
    await this.refusesWhatIsIncomplete();
  }

  async makes(): Promise<void> {
    await this.#program.printed('Started workers');
    await this.#createFoo('demo', { deploymentName: 'demo', replicas: 1 });
    await this.#program.printed('default/demo: created Deployment demo with 1 replicas');
    await this.#program.printed('default/demo: 0 replicas available');
  }

  async reportsStatus(): Promise<void> {
    const value = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const body = [{ op: 'add', path: '/status', value }];
    await this.#apps.patchNamespacedDeploymentStatus({ namespace: NAMESPACE, name: 'demo', body });
    await this.#program.printed('default/demo: 1 replicas available');
  }

  /** Changes the replicas of the Foo, and then those of the Deployment as another client would. */
  async scales(): Promise<void> {
    const replicas = (value: number): object[] => [{ op: 'replace', path: '/spec/replicas', value }];
    await this.#customObjects.patchNamespacedCustomObject({ ...FOOS, name: 'demo', body: replicas(2) });
    await this.#program.printed('default/demo: scaled Deployment demo from 1 to 2 replicas');
    await this.#apps.patchNamespacedDeployment({ namespace: NAMESPACE, name: 'demo', body: replicas(5) });
    await this.#program.printed('default/demo: scaled Deployment demo from 5 to 2 replicas');
  }

  async retriesWhatIsNotItsOwn(): Promise<void> {
    await this.#createFoo('wants-it', { deploymentName: 'taken', replicas: 3 });
    await this.#program.printed(
      'default/wants-it: Deployment taken already exists and is not managed by Foo',
    );
    await this.#apps.deleteNamespacedDeployment({ namespace: NAMESPACE, name: 'taken' });
    await this.#program.printed('default/wants-it: created Deployment taken with 3 replicas');
    await this.#program.printed('default/wants-it: 0 replicas available');
  }

  async refusesWhatIsIncomplete(): Promise<void> {
    await this.#createFoo('nameless', {});
    await this.#program.printed('default/nameless: spec.deploymentName must be specified');
  }

  async foo(name: string): Promise<Foo> {
    return (await this.#customObjects.getNamespacedCustomObject({ ...FOOS, name })) as Foo;
  }

  deployment(name: string): Promise<V1Deployment> {
    return this.#apps.readNamespacedDeployment({ namespace: NAMESPACE, name });
  }

  async #createFoo(name: string, spec: FooSpec): Promise<void> {
    const body = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Foo', metadata: { name }, spec };
    await this.#customObjects.createNamespacedCustomObject({ ...FOOS, body });
  }
}
