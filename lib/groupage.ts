/** Groupage as one construct for the user's own app: tables, queues, functions and API in the app's stack. */
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
  /** The configuration: the default export of `groupage.config.ts`. */
  readonly config: ConfigInput;
  /**
   * Names this instance in metrics, events and the dashboard. Must be unique in the account and region.
   * @default - `prefix`. Without one, the stack's name; further instances in a stack append the construct's id
   */
  readonly service?: string;
  /**
   * Whether the stack has outputs for the API and the queues. `groupage --stack NAME` finds the API through these
   * outputs.
   * @default true
   */
  readonly outputs?: boolean;
  /**
   * Tags for all resources that can have tags.
   * @default - those of the stack
   */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Permissions boundary of all roles that the construct creates.
   * @default - none
   */
  readonly permissionsBoundary?: IManagedPolicy;
  /**
   * Creates the code of the functions.
   * @default - the code of this package
   */
  readonly code?: HandlerCode;
}

/** Options of {@link Groupage.grantRegister}. */
export interface RegisterGrant {
  /**
   * A name from `producers` of the configuration.
   * @default - the producer has no name, and may do what any sender may do
   */
  readonly as?: string;
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
  /** The configuration with its defaults. */
  readonly config: Config;
  readonly tables: Tables;
  readonly flow: Flow;
  readonly #prefix: string | undefined;

  /** @throws InvalidProps at synth if the props are invalid. The message says what is wrong and how to correct it. */
  constructor(scope: Construct, id: string, props: GroupageProps) {
    super(scope, id);
    const { config, outputs = true, tags = {}, permissionsBoundary, ...others } = props;
    this.#prefix = props.prefix;
    checkKnown(this, config);
    const parsed = parseConfig(config);
    if (!parsed.ok) throw new InvalidProps(this, `the configuration is invalid:\n${describeProblems(parsed.problems)}`);
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

  /** Other instances in the same stack that were created before this one. */
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
        `its tables, queues and functions would have the names of those of ${same.node.path}: give one of the two another prefix`,
      );
  }

  /** Names this instance in metrics and events. */
  get service(): string {
    return this.flow.service;
  }

  /** The queue to which producers send register messages. */
  get registerQueue(): IQueue {
    return this.flow.registerQueue.queue;
  }

  /** The queue to which jobs that report later send the results of their items. */
  get batchQueue(): IQueue {
    return this.flow.batchQueue.queue;
  }

  /** The URL of the HTTP API including its version, as `createFanOutClient` expects it. */
  get apiUrl(): string {
    return `${this.flow.api.url}v1`;
  }

  /** The network connections of the functions, if they run in a VPC. @throws InvalidProps without `vpc` */
  get connections(): Connections {
    const { network } = this.flow;
    if (!network) throw new InvalidProps(this, 'the functions have no connections without a VPC: set vpc');
    return new Connections({ securityGroups: network.securityGroups });
  }

  /**
   * Lets a producer send register messages. With `as`, its role is one of the senders that the configuration's
   * rules for producers know by this name. The role must be created in this stack.
   *
   * @throws InvalidProps if `as` is not configured, or the producer has no role whose unique id CloudFormation knows
   */
  grantRegister(producer: IGrantable, { as: name }: RegisterGrant = {}): Grant {
    if (name !== undefined) this.flow.producers.add(name, producer);
    return grantSend(this.flow.registerQueue, producer);
  }

  /**
   * Lets other accounts send register messages. In each of these accounts, its own policies decide which roles may
   * send.
   *
   * @throws InvalidProps
   */
  grantRegisterFromAccounts(...accounts: readonly string[]): void {
    grantSendFromAccounts(this, this.flow.registerQueue, accounts);
  }

  /**
   * Lets all accounts of organizations send register messages. In each of these accounts, its own policies decide which
   * roles may send.
   *
   * @throws InvalidProps
   */
  grantRegisterFromOrganizations(...organizations: readonly string[]): void {
    grantSendFromOrganizations(this, this.flow.registerQueue, organizations);
  }

  /** Lets a job report the results of its batch's items. */
  grantComplete(job: IGrantable): Grant {
    return grantSend(this.flow.batchQueue, job);
  }

  /** Lets a service of this account call all of the HTTP API, for example to open fan-outs or ack items. */
  grantApi(service: IGrantable): Grant {
    return this.flow.apiCallers.grantAll(service);
  }

  /**
   * Lets a role or user read through the HTTP API: tasks with payloads and results, state, findings of the doctor.
   * Of several grants for the API, the largest counts.
   *
   * @throws InvalidProps if the caller is neither a role nor a user
   */
  grantRead(caller: IGrantable): Grant {
    return this.flow.apiCallers.grant(caller, 'read');
  }

  /**
   * Lets a role or user read and operate: pause, resume, redrive, cancel, flush, repair, delete. It includes no
   * right to send tasks, or to do other work of services.
   *
   * @throws InvalidProps if the caller is neither a role nor a user
   */
  grantOperate(caller: IGrantable): Grant {
    return this.flow.apiCallers.grant(caller, 'operate');
  }

  /**
   * Sends the events of a destination to a queue, topic or event bus of this app, and allows the callback function to
   * send to it. For an HTTP destination, the target is the secret that signs its requests. The configuration must
   * contain the destination with the same kind. The resource name in the configuration is only used by a local start.
   *
   * @throws InvalidProps
   */
  grantCallbacks(destination: string, target: CallbackTarget): Grant {
    return this.flow.sendCallbacks(destination, target);
  }
}
