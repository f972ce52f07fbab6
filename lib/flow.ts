/** The flow (design, section 2): queues, the λs between them, and exactly what each of them may do. */
import { Aws, Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Grant } from 'aws-cdk-lib/aws-iam';
import { type FunctionUrl, FunctionUrlAuthType, type Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { LEADER_TIMEOUT, LEADER_VISIBILITY, MESSAGES_AT_ONCE, REGISTER_VISIBILITY } from '../src/batching/timings.ts';
import { hasDestinations } from '../src/callbacks/callback.ts';
import { batchVisibility, type Config, callbackTimeout, handlerTimeout } from '../src/config/resolved.ts';
import { type CallbackTarget, CallbackTargets } from './callback-targets.ts';
import { letLogsUse } from './encryption.ts';
import { distinct, downstreamRights } from './endpoints.ts';
import { ExecutionReports } from './execution-reports.ts';
import { Handler } from './handler.ts';
import { bundledCode, type HandlerCode, type HandlerName } from './handler-code.ts';
import { type Network, networkOf } from './network.ts';
import { RejectedQueue, WorkingQueue } from './queues.ts';
import { executionTag } from './service.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tables } from './tables.ts';

/** What whoever acks items of fan-outs does: a task that ends does so itself. */
const ACKS = ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'] as const;

export interface FlowProps extends Surroundings {
  readonly config: Config;
  readonly tables: Tables;
  /**
   * What metrics and events say that they are of: unlike that of any other instance of the account.
   * @default - the name of the stack
   */
  readonly service?: string;
  /**
   * Makes the λs' code.
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
  /** Where there are destinations. */
  readonly callbackQueue: WorkingQueue | undefined;
  readonly apiUrl: FunctionUrl;
  /** What metrics and events say that they are of. */
  readonly service: string;
  /** Where the functions run, if that is somebody's own VPC. */
  readonly network: Network | undefined;
  readonly #props: FlowProps;
  readonly #config: Config;
  readonly #tables: Tables;
  readonly #handlers = new Map<HandlerName, Handler>();
  readonly #callbackTargets: CallbackTargets;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: FlowProps) {
    super(scope, id);
    const { config, tables, service, encryptionKey } = props;
    this.#props = props;
    this.#config = config;
    this.#tables = tables;
    this.service = service ?? Stack.of(this).stackName;
    this.network = networkOf(this, props);
    this.#callbackTargets = new CallbackTargets(this, config);
    const { register, leader, batch, callback } = this.#visibilities();
    this.registerQueue = this.#queue('Register', 'register', register, true);
    // Not six timeouts: a crashed leader's guard has to come back soon after its lease ends (timeout < lease < visibility).
    this.electQueue = this.#queue('Elect', 'elect', leader);
    this.groupQueue = this.#queue('Group', 'group', leader);
    this.batchQueue = this.#queue('Batch', 'batch', batch);
    this.rejectedQueue = new RejectedQueue(this, 'Rejected', props);
    this.callbackQueue = callback === undefined ? undefined : this.#queue('Callback', 'callback', callback, true);
    if (encryptionKey) letLogsUse(this, encryptionKey);
    this.#register();
    this.#electLeader();
    this.#group();
    this.#batchHandler();
    if (this.callbackQueue) this.#callbackHandler(this.callbackQueue);
    this.#sweep();
    this.apiUrl = this.#api();
  }

  /** Milliseconds. */
  #visibilities() {
    return {
      register: REGISTER_VISIBILITY,
      leader: LEADER_VISIBILITY,
      batch: batchVisibility(this.#config),
      callback: hasDestinations(this.#config) ? 6 * callbackTimeout(this.#config) : undefined,
    };
  }

  #queue(id: string, name: string, visibility: number, holdsTasks = false): WorkingQueue {
    return new WorkingQueue(this, id, {
      ...this.#props,
      name,
      visibility: Duration.millis(visibility),
      holdsTasks,
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

  /** The λs with their roles and log groups, by the names of their entries. */
  get handlers(): ReadonlyMap<HandlerName, Handler> {
    return this.#handlers;
  }

  /** The λs by the names of their entries. */
  get functions(): ReadonlyMap<HandlerName, Lambda> {
    return new Map([...this.#handlers].map(([name, handler]) => [name, handler.function]));
  }

  /**
   * Sends the events of a configured destination to a part of somebody's app, whatever it is called there.
   *
   * @throws InvalidProps
   */
  sendCallbacks(destination: string, target: CallbackTarget): Grant {
    return this.#callbackTargets.bind(destination, target, this.#handlers.get('callback'));
  }

  /** The queues that λs work off, by their names. */
  get workingQueues(): Readonly<Record<string, WorkingQueue>> {
    const { registerQueue: register, electQueue: elect, groupQueue: group, batchQueue: batch } = this;
    return { register, elect, group, batch, ...(this.callbackQueue ? { callback: this.callbackQueue } : {}) };
  }

  #register(): void {
    this.#handler('RegisterHandler', 'register', LEADER_TIMEOUT, 'Register messages become waiting tasks')
      .source({ queue: this.registerQueue.queue, batchSize: MESSAGES_AT_ONCE.register, maxConcurrency: 100 })
      .table('taskTable', this.#tables.task, [
        'PartiQLInsert',
        'PartiQLUpdate',
        'BatchGetItem',
        'GetItem',
        'UpdateItem',
      ])
      .table('batchLockTable', this.#tables.batchLock, ['BatchWriteItem', 'BatchGetItem', 'PartiQLInsert', 'Query'])
      .table('batchTable', this.#tables.batch, ['GetItem'])
      .table('fanOutTable', this.#tables.fanOut, ACKS)
      .table('listTable', this.#tables.list, ['GetItem', 'PutItem', 'UpdateItem', 'Query'])
      .sends({
        registerQueue: this.registerQueue.queue,
        electQueue: this.electQueue.queue,
        groupQueue: this.groupQueue.queue,
        rejectedQueue: this.rejectedQueue.queue,
        ...this.#callbacks(),
      });
  }

  #electLeader(): void {
    this.#handler('ElectHandler', 'elect-leader', LEADER_TIMEOUT, 'Targets with waiting tasks get a leader')
      .source({ queue: this.electQueue.queue, batchSize: MESSAGES_AT_ONCE.elect, maxConcurrency: 50 })
      .table('batchLockTable', this.#tables.batchLock, ['GetItem', 'Query', 'UpdateItem', 'DeleteItem'])
      .sends({ electQueue: this.electQueue.queue, groupQueue: this.groupQueue.queue });
  }

  #group(): void {
    this.#handler('GroupHandler', 'group', LEADER_TIMEOUT, 'Leaders claim waiting tasks and seal batches')
      .source({ queue: this.groupQueue.queue, batchSize: MESSAGES_AT_ONCE.group, maxConcurrency: 100 })
      .table('taskTable', this.#tables.task, ['PartiQLUpdate', 'BatchGetItem'])
      .table('batchLockTable', this.#tables.batchLock, [
        'BatchWriteItem',
        'GetItem',
        'Query',
        'UpdateItem',
        'PutItem',
        'DeleteItem',
      ])
      .table('batchTable', this.#tables.batch, ['GetItem', 'PutItem', 'UpdateItem'])
      .table('fanOutTable', this.#tables.fanOut, ACKS)
      .sends({
        electQueue: this.electQueue.queue,
        groupQueue: this.groupQueue.queue,
        batchQueue: this.batchQueue.queue,
        ...this.#callbacks(),
      });
  }

  #batchHandler(): void {
    const operations = Object.values(this.#config.operations);
    const downstreams = operations.map(({ downstream }) => downstream);
    const machines = operations.flatMap(({ operation, downstream }) =>
      downstream.kind === 'step-functions' ? [[operation, downstream] as const] : [],
    );
    const handler = this.#handler(
      'BatchHandler',
      'batch-handler',
      handlerTimeout(this.#config),
      'Sealed batches go downstream, tasks get results',
    )
      .source({ queue: this.batchQueue.queue, batchSize: MESSAGES_AT_ONCE.batch, maxConcurrency: 100 })
      .table('taskTable', this.#tables.task, ['PartiQLUpdate', 'BatchGetItem'])
      .table('batchLockTable', this.#tables.batchLock, ['GetItem', 'Query', 'UpdateItem', 'DeleteItem'])
      .table('batchTable', this.#tables.batch, ['GetItem', 'UpdateItem'])
      .table('fanOutTable', this.#tables.fanOut, ACKS)
      .sends({
        electQueue: this.electQueue.queue,
        batchQueue: this.batchQueue.queue,
        rejectedQueue: this.rejectedQueue.queue,
        ...this.#callbacks(),
      })
      .may(distinct(downstreams.flatMap(downstreamRights)));
    // Which inputs have been done is kept beside the Targets' locks.
    if (operations.some(({ merge }) => merge))
      handler.table('batchLockTable', this.#tables.batchLock, ['BatchGetItem', 'BatchWriteItem']);
    if (machines.length === 0) return;
    handler.startsByName();
    const { service, encryptionKey } = this.#props;
    const tag = service === undefined ? '' : executionTag(this, service);
    if (tag !== '') handler.set('executions', tag);
    const { queue } = this.batchQueue;
    new ExecutionReports(this, 'ExecutionReports', { queue, machines, tag, encryptionKey });
  }

  /** What a function is given that tells initiators of tasks. */
  #callbacks() {
    return this.callbackQueue ? { callbackQueue: this.callbackQueue.queue } : {};
  }

  #callbackHandler({ queue }: WorkingQueue): void {
    const destinations = Object.values(this.#config.destinations);
    const timeout = callbackTimeout(this.#config);
    const handler = this.#handler('CallbackHandler', 'callback', timeout, 'Events go to destinations')
      // Few: a destination that was down should not be run over when it is back.
      .source({ queue, batchSize: MESSAGES_AT_ONCE.callback, maxConcurrency: 10 })
      .sends({ rejectedQueue: this.rejectedQueue.queue })
      .may(distinct(this.#callbackTargets.rights()));
    if (destinations.some(({ kind }) => kind === 'topic')) handler.publishesByName();
  }

  #sweep(): void {
    const handler = this.#handler('SweepHandler', 'sweep', 50_000, 'Dead letters are sent again, lock rows patrolled')
      .table(
        'batchLockTable',
        this.#tables.batchLock,
        ['GetItem', 'PutItem', 'Query', 'UpdateItem', 'DeleteItem'],
        ['Targets'],
      )
      .table('batchTable', this.#tables.batch, ['GetItem'])
      .table('fanOutTable', this.#tables.fanOut, [...ACKS, 'BatchWriteItem'], ['ByCheckAt'])
      .table('listTable', this.#tables.list, ['Query', 'BatchWriteItem'])
      .sends(this.#allQueues())
      .takesFrom(this.#deadLetters());
    // The next minute comes anyway: a sweep that failed is not repeated at once.
    handler.function.configureAsyncInvoke({ retryAttempts: 0 });
    new Rule(this, 'SweepSchedule', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(handler.function)],
    });
  }

  #allQueues() {
    const { registerQueue, electQueue, groupQueue, batchQueue, rejectedQueue } = this;
    return {
      registerQueue: registerQueue.queue,
      electQueue: electQueue.queue,
      groupQueue: groupQueue.queue,
      batchQueue: batchQueue.queue,
      rejectedQueue: rejectedQueue.queue,
      ...this.#callbacks(),
    };
  }

  #deadLetters() {
    const { registerQueue, electQueue, groupQueue, batchQueue, callbackQueue } = this;
    return {
      registerDeadLetters: registerQueue.deadLetters,
      electDeadLetters: electQueue.deadLetters,
      groupDeadLetters: groupQueue.deadLetters,
      batchDeadLetters: batchQueue.deadLetters,
      ...(callbackQueue ? { callbackDeadLetters: callbackQueue.deadLetters } : {}),
    };
  }

  #api(): FunctionUrl {
    const letters = { ...this.#deadLetters(), rejectedQueue: this.rejectedQueue.queue };
    return this.#handler('ApiHandler', 'api', LEADER_TIMEOUT, 'The HTTP API')
      .table('taskTable', this.#tables.task, ['GetItem', 'BatchGetItem', 'PartiQLUpdate'], ['FailedByTarget'])
      .scans(this.#tables.task, 'FailedByTarget')
      .table(
        'batchLockTable',
        this.#tables.batchLock,
        ['GetItem', 'BatchGetItem', 'BatchWriteItem', 'Query', 'UpdateItem'],
        ['Targets'],
      )
      .table('batchTable', this.#tables.batch, ['GetItem'], ['ByTarget'])
      .table('fanOutTable', this.#tables.fanOut, [...ACKS, 'PartiQLInsert', 'BatchWriteItem'], ['ByCheckAt'])
      .table('listTable', this.#tables.list, [
        'GetItem',
        'BatchGetItem',
        'PutItem',
        'UpdateItem',
        'PartiQLInsert',
        'BatchWriteItem',
        'Query',
      ])
      .table('fleetTable', this.#tables.fleet.table, ['Query', 'UpdateItem'])
      .sends(this.#allQueues())
      .takesFrom(letters)
      .counts({ ...letters, ...this.#allQueues() })
      .function.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
  }
}
