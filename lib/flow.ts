/** The flow: the queues, and the Lambda functions between them. */
import { Aws, Duration, Stack, Token } from 'aws-cdk-lib';
import type { Grant } from 'aws-cdk-lib/aws-iam';
import type { FunctionUrl, Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { hasDestinations } from '../src/domain/callbacks/callback.ts';
import { unstartable } from '../src/domain/config/endpoints.ts';
import { batchVisibility, type Config, callbackVisibility, registerVisibility } from '../src/domain/config/resolved.ts';
import { CALLBACK_RECEIVES, LEADER_VISIBILITY } from '../src/domain/timings.ts';
import { describeProblems } from '../src/util/problems.ts';
import { type Api, apiOf } from './api.ts';
import { ApiCallers } from './api-callers.ts';
import { type CallbackTarget, CallbackTargets } from './callback-targets.ts';
import { letLogsUse } from './encryption.ts';
import {
  apiHandler,
  batchHandler,
  callbackHandler,
  electHandler,
  type FlowParts,
  groupHandler,
  registerHandler,
  sweepHandler,
} from './flow-handlers.ts';
import { Handler } from './handler.ts';
import { bundledCode, type HandlerCode, type HandlerName } from './handler-code.ts';
import { InvalidProps } from './invalid-props.ts';
import { NamedProducers } from './named-producers.ts';
import { type Network, networkOf } from './network.ts';
import { GivenUpQueue, RejectedQueue, WorkingQueue, type WorkingQueueProps } from './queues.ts';
import { executionTag } from './service.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tables } from './tables.ts';

export interface FlowProps extends Surroundings {
  readonly config: Config;
  readonly tables: Tables;
  /**
   * Names this instance in metrics and events. Must be unique in the account and region.
   * @default - the name of the stack
   */
  readonly service?: string;
  /**
   * Creates the code of the functions.
   * @default - the code of this package
   */
  readonly code?: HandlerCode;
}

export class Flow extends Construct {
  readonly registerQueue: WorkingQueue;
  readonly electQueue: WorkingQueue;
  readonly groupQueue: WorkingQueue;
  readonly batchQueue: WorkingQueue;
  readonly rejectedQueue: RejectedQueue;
  /** Undefined without destinations. */
  readonly callbackQueue: WorkingQueue | undefined;
  /**
   * Events that no destination accepted for three days. Only a user sends them again. Undefined without destinations.
   */
  readonly givenUpQueue: GivenUpQueue | undefined;
  /** How callers reach the HTTP API. */
  readonly api: Api;
  /** The callers of the HTTP API and their rights. */
  readonly apiCallers: ApiCallers;
  /** The roles behind the configured names of producers. */
  readonly producers: NamedProducers;
  /** Names this instance in metrics and events. */
  readonly service: string;
  /** The network of the functions. Undefined if they do not run in a customer's VPC. */
  readonly network: Network | undefined;
  readonly #props: FlowProps;
  readonly #config: Config;
  readonly #handlers = new Map<HandlerName, Handler>();
  readonly #callbackTargets: CallbackTargets;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: FlowProps) {
    super(scope, id);
    const { config, service, encryptionKey } = props;
    this.#props = props;
    this.#config = config;
    this.service = service ?? Stack.of(this).stackName;
    this.network = networkOf(this, props);
    this.#checkStartable();
    this.#callbackTargets = new CallbackTargets(this, config);
    const { register, leader, batch, callback } = this.#visibilities();
    this.registerQueue = this.#queue('Register', 'register', register, { holdsTasks: true });
    // The visibility timeout is shorter than the usual six function timeouts. If a leader crashes, its guard must be
    // delivered again soon after the lease ends (timeout < lease < visibility).
    this.electQueue = this.#queue('Elect', 'elect', leader);
    this.groupQueue = this.#queue('Group', 'group', leader);
    this.batchQueue = this.#queue('Batch', 'batch', batch);
    this.rejectedQueue = new RejectedQueue(this, 'Rejected', props);
    this.callbackQueue =
      callback === undefined
        ? undefined
        : this.#queue('Callback', 'callback', callback, { holdsTasks: true, maxReceives: CALLBACK_RECEIVES });
    this.givenUpQueue = this.callbackQueue && new GivenUpQueue(this, 'GivenUp', props);
    if (encryptionKey) letLogsUse(this, encryptionKey);
    const parts = this.#parts();
    registerHandler(parts);
    electHandler(parts);
    groupHandler(parts);
    batchHandler(parts);
    if (this.callbackQueue) callbackHandler(parts, this.callbackQueue);
    sweepHandler(parts);
    const handler = apiHandler(parts);
    const option = props.api ?? 'function-url';
    this.api = apiOf(this, { option, function: handler.function, service: this.service });
    this.apiCallers = new ApiCallers(this, { api: this.api, handler });
    this.#nameOwnRoles();
    this.producers = new NamedProducers(this, config, [this.#handlerOf('register'), handler]);
  }

  /** Tells the functions that read or pass on senders which roles may pass senders on. */
  #nameOwnRoles(): void {
    const senders = (['register', 'sweep', 'api'] as const).map((name) => this.#handlerOf(name));
    const ids = senders.map(({ roleId }) => roleId).join(',');
    for (const handler of senders) handler.set('ownRoles', ids);
  }

  #handlerOf(name: HandlerName): Handler {
    return this.#handlers.get(name) as Handler;
  }

  /** Checks the state machines against the stack's account. Does nothing if that is only known at deployment. */
  #checkStartable(): void {
    const { account } = Stack.of(this);
    const problems = Token.isUnresolved(account) ? [] : unstartable(this.#config.operations, account);
    if (problems.length > 0) throw new InvalidProps(this, describeProblems(problems));
  }

  #parts(): FlowParts {
    const { registerQueue, electQueue, groupQueue, batchQueue, rejectedQueue, callbackQueue, givenUpQueue } = this;
    const { config, tables, service } = this.#props;
    return {
      scope: this,
      config,
      tables,
      registerQueue,
      electQueue,
      groupQueue,
      batchQueue,
      rejectedQueue,
      callbackQueue,
      givenUpQueue,
      callbackRights: this.#callbackTargets.rights(),
      executionTag: service === undefined ? '' : executionTag(this, service),
      handler: (...named) => this.#handler(...named),
    };
  }

  /** Visibility timeouts of the queues, in milliseconds. */
  #visibilities() {
    return {
      register: registerVisibility(this.#config),
      leader: LEADER_VISIBILITY,
      batch: batchVisibility(this.#config),
      callback: hasDestinations(this.#config) ? callbackVisibility(this.#config) : undefined,
    };
  }

  #queue(
    id: string,
    name: string,
    visibility: number,
    options: Pick<WorkingQueueProps, 'holdsTasks' | 'maxReceives'> = {},
  ): WorkingQueue {
    return new WorkingQueue(this, id, {
      ...this.#props,
      name,
      visibility: Duration.millis(visibility),
      ...options,
    });
  }

  #handler(id: string, name: HandlerName, timeout: number, description: string): Handler {
    const { code = bundledCode, service = Aws.STACK_NAME } = this.#props;
    const handler = new Handler(this, id, {
      name,
      code: code(name, this.#config),
      timeout: Duration.millis(timeout),
      description,
      service,
      network: this.network,
      surroundings: this.#props,
    });
    this.#handlers.set(name, handler);
    return handler;
  }

  /** The URL of the API's function. Undefined if the API is behind API Gateway. */
  get apiUrl(): FunctionUrl | undefined {
    return this.api.functionUrl;
  }

  /** The functions with their roles and log groups, by the names of their entries. */
  get handlers(): ReadonlyMap<HandlerName, Handler> {
    return this.#handlers;
  }

  /** The functions by the names of their entries. */
  get functions(): ReadonlyMap<HandlerName, Lambda> {
    return new Map([...this.#handlers].map(([name, handler]) => [name, handler.function]));
  }

  /**
   * Sends the events of a configured destination to a resource of the user's app, and grants the right to do so.
   *
   * @throws InvalidProps
   */
  sendCallbacks(destination: string, target: CallbackTarget): Grant {
    return this.#callbackTargets.bind(destination, target, this.#handlers.get('callback'));
  }

  /** The queues that functions read, by their names. */
  get workingQueues(): Readonly<Record<string, WorkingQueue>> {
    const { registerQueue: register, electQueue: elect, groupQueue: group, batchQueue: batch } = this;
    return { register, elect, group, batch, ...(this.callbackQueue ? { callback: this.callbackQueue } : {}) };
  }
}
