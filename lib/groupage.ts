/** Groupage as one construct, for somebody's own app: tables, queues, λs and API in their stack. */
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { describeProblems } from '../src/batching/problems.ts';
import type { Config } from '../src/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../src/config/schema.ts';
import { Flow } from './flow.ts';
import { Tables, type TablesProps } from './tables.ts';

export { FleetTable, type FleetTableProps } from './fleet-table.ts';
export { Ops } from './ops/ops.ts';

export interface GroupageProps extends TablesProps {
  /** What `groupage.config.ts` exports. */
  readonly config: ConfigInput;
}

/**
 * Groups single tasks into full batches for a downstream batch API.
 *
 * ```ts
 * const groupage = new Groupage(this, 'Groupage', { config });
 * groupage.grantRegister(producerFunction);
 * new Ops(this, 'Ops', groupage); // its dashboard and alarms
 * ```
 *
 * @throws Error at synth, when the configuration is wrong; its message names every path and the fix.
 */
export class Groupage extends Construct {
  /** The configuration, with its defaults. */
  readonly config: Config;
  readonly tables: Tables;
  readonly flow: Flow;

  constructor(scope: Construct, id: string, { config: input, ...tablesProps }: GroupageProps) {
    super(scope, id);
    const parsed = parseConfig(input);
    if (!parsed.ok)
      throw new Error(`the configuration of ${this.node.path} is wrong:\n${describeProblems(parsed.problems)}`);
    this.config = parsed.value;
    this.tables = new Tables(this, 'Tables', tablesProps);
    const { retain } = tablesProps;
    this.flow = new Flow(this, 'Flow', {
      config: this.config,
      tables: this.tables,
      ...(retain === undefined ? {} : { retain }),
    });
  }

  /** Where producers send register messages. */
  get registerQueue(): IQueue {
    return this.flow.registerQueue.queue;
  }

  /** Where jobs that report later send how their items ended. */
  get batchQueue(): IQueue {
    return this.flow.batchQueue.queue;
  }

  /** Lets a job report how the items of its batch ended. */
  grantComplete(job: IGrantable): void {
    this.batchQueue.grantSendMessages(job);
  }

  /** The HTTP API, up to its version: what `createFanOutClient` wants, say. */
  get apiUrl(): string {
    return `${this.flow.apiUrl.url}v1`;
  }

  /** Lets a service call the HTTP API, which is not less than all of it: to open fan-outs, to ack their items. */
  grantApi(service: IGrantable): void {
    this.flow.apiUrl.grantInvokeUrl(service);
  }

  /** Lets a producer send register messages. */
  grantRegister(producer: IGrantable): void {
    this.registerQueue.grantSendMessages(producer);
  }
}
