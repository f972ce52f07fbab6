/** Groupage as one construct, for somebody's own app: tables, queues, λs and API in their stack. */
import { Stack, Tags } from 'aws-cdk-lib';
import { Connections, type IConnectable } from 'aws-cdk-lib/aws-ec2';
import { type Grant, type IGrantable, type IManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Config } from '../src/domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../src/domain/config/schema/config.ts';
import { describeProblems } from '../src/util/problems.ts';
import type { CallbackTarget } from './callback-targets.ts';
import { Flow } from './flow.ts';
import type { HandlerCode } from './handler-code.ts';
import { InstanceMetrics } from './instance-metrics.ts';
import { InvalidProps } from './invalid-props.ts';
import { checkKnown } from './known-config.ts';
import { FlowOutputs } from './outputs.ts';
import { grantSend, grantSendFromAccounts, grantSendFromOrganizations } from './producers.ts';
import { instanceOf } from './service.ts';
import type { Surroundings } from './surroundings.ts';
import { Tables } from './tables.ts';

export type { CallbackTarget } from './callback-targets.ts';
export { FleetTable, type FleetTableProps } from './fleet-table.ts';
export { InvalidProps } from './invalid-props.ts';

export interface GroupageProps extends Surroundings {
  /** What `groupage.config.ts` exports. */
  readonly config: ConfigInput;
  /**
   * What metrics, events and the dashboard say that they are of: unlike that of any other instance of the account and region.
   * @default - `prefix`; without one the name of the stack, with the construct's id behind it for further instances of a stack
   */
  readonly service?: string;
  /**
   * Whether the stack has outputs for the API and the queues, by which `groupage --stack NAME` finds the API.
   * @default true
   */
  readonly outputs?: boolean;
  /**
   * For all that can have tags.
   * @default - those of the stack
   */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * The most that any role may do which is made here.
   * @default - none
   */
  readonly permissionsBoundary?: IManagedPolicy;
  /**
   * Makes the functions' code.
   * @default - the code of this package
   */
  readonly code?: HandlerCode;
}

/**
 * Groups single tasks into full batches for a downstream batch API.
 *
 * ```ts
 * const groupage = new Groupage(this, 'Groupage', { config });
 * groupage.grantRegister(producerFunction);
 * new Ops(this, 'Ops', groupage); // its dashboard and alarms
 * ```
 */
export class Groupage extends InstanceMetrics implements IConnectable {
  /** The configuration, with its defaults. */
  readonly config: Config;
  readonly tables: Tables;
  readonly flow: Flow;
  readonly #prefix: string | undefined;

  /** @throws InvalidProps at synth, when something is wrong; its message names what, and the way out. */
  constructor(scope: Construct, id: string, props: GroupageProps) {
    super(scope, id);
    const { config, outputs = true, tags = {}, permissionsBoundary, ...others } = props;
    this.#prefix = props.prefix;
    checkKnown(this, config);
    const parsed = parseConfig(config);
    if (!parsed.ok) throw new InvalidProps(this, `the configuration is wrong:\n${describeProblems(parsed.problems)}`);
    const siblings = this.#siblings();
    this.#checkPrefix(siblings);
    const { service, id: place } = instanceOf(this, props, siblings);
    this.config = parsed.value;
    this.tables = new Tables(this, 'Tables', others);
    this.flow = new Flow(this, 'Flow', {
      ...others,
      config: this.config,
      tables: this.tables,
      ...(service === undefined ? {} : { service }),
    });
    if (outputs) new FlowOutputs(this, 'Outputs', { flow: this.flow, prefix: place });
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
    if (permissionsBoundary) PermissionsBoundary.of(this).apply(permissionsBoundary);
  }

  /** Those of its stack that were made before. */
  #siblings(): Groupage[] {
    const stack = Stack.of(this);
    const isSibling = (each: unknown): each is Groupage =>
      each instanceof Groupage && each !== this && Stack.of(each) === stack;
    return stack.node.findAll().filter(isSibling);
  }

  #checkPrefix(siblings: readonly Groupage[]): void {
    const same = siblings.find((each) => this.#prefix !== undefined && each.#prefix === this.#prefix);
    if (same)
      throw new InvalidProps(
        this,
        `its tables, queues and functions would be called as those of ${same.node.path}: give one of them another prefix`,
      );
  }

  /** What metrics and events say that they are of. */
  get service(): string {
    return this.flow.service;
  }

  /** Where producers send register messages. */
  get registerQueue(): IQueue {
    return this.flow.registerQueue.queue;
  }

  /** Where jobs that report later send how their items ended. */
  get batchQueue(): IQueue {
    return this.flow.batchQueue.queue;
  }

  /** The HTTP API, up to its version: what `createFanOutClient` wants, say. */
  get apiUrl(): string {
    return `${this.flow.apiUrl.url}v1`;
  }

  /** The functions' connections, where they run in a VPC. @throws InvalidProps without `vpc` */
  get connections(): Connections {
    const { network } = this.flow;
    if (!network) throw new InvalidProps(this, 'it has no connections without vpc: give it one');
    return new Connections({ securityGroups: network.securityGroups });
  }

  /** Lets a producer send register messages. */
  grantRegister(producer: IGrantable): Grant {
    return grantSend(this.flow.registerQueue, producer);
  }

  /**
   * Lets producers of other accounts send register messages: whomever those accounts let by their own policies.
   *
   * @throws InvalidProps
   */
  grantRegisterFromAccounts(...accounts: readonly string[]): void {
    grantSendFromAccounts(this, this.flow.registerQueue, accounts);
  }

  /**
   * Lets producers of all accounts of organizations send register messages: whomever those accounts let.
   *
   * @throws InvalidProps
   */
  grantRegisterFromOrganizations(...organizations: readonly string[]): void {
    grantSendFromOrganizations(this, this.flow.registerQueue, organizations);
  }

  /** Lets a job report how the items of its batch ended. */
  grantComplete(job: IGrantable): Grant {
    return grantSend(this.flow.batchQueue, job);
  }

  /**
   * Lets a service call the HTTP API, which is not less than all of it: to open fan-outs, to ack their items. IAM knows
   * no more of a function URL than who may invoke it, so there is no right to read alone.
   */
  grantApi(service: IGrantable): Grant {
    return this.flow.apiUrl.grantInvokeUrl(service);
  }

  /**
   * Sends the events of a destination to a queue, topic or event bus of this app, whatever it is called, and lets the
   * callback function send there; of an HTTP destination it takes the secret that signs events. The destination has to be
   * in the configuration, of the same kind; the name that it has there counts for a local start.
   *
   * @throws InvalidProps
   */
  grantCallbacks(destination: string, target: CallbackTarget): Grant {
    return this.flow.sendCallbacks(destination, target);
  }
}
