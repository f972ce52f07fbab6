/** The AsyncAPI 3.0 document of the queues and callbacks. */

import { RELEASE } from '../../src/domain/release.ts';
import { BATCH_EVENT, JOB_REPORT } from './downstream-call.ts';
import { EVENTS } from './events.ts';
import * as examples from './examples.ts';
import { Components, type Json } from './json-schema.ts';
import { REDRIVE_MESSAGE, REGISTER_MESSAGE, REJECTED_MESSAGE } from './register-message.ts';

/** Uses JSON Schema draft 7, which AsyncAPI's own schemas extend. */
const components = () => new Components({ target: 'draft-7' });

const EVENT_EXAMPLES: Readonly<Record<string, Json>> = Object.fromEntries(
  examples.callbackEvents.map((event) => [event.type, event]),
);

const nameOf = ({ $ref }: Json): string => String($ref).split('/').at(-1) ?? '';

const messagesOf = (schemas: Components): Readonly<Record<string, Json>> => {
  const message = (schema: Parameters<Components['of']>[0], summary: string, example: Json, more: Json = {}) => {
    const payload = schemas.of(schema);
    return [
      nameOf(payload),
      {
        name: nameOf(payload),
        contentType: 'application/json',
        summary,
        payload,
        ...more,
        examples: [{ payload: example }],
      },
    ];
  };
  return Object.fromEntries([
    message(REGISTER_MESSAGE, 'One task.', examples.registerMessage),
    message(REDRIVE_MESSAGE, 'Runs a failed task again.', examples.redriveMessage),
    message(REJECTED_MESSAGE, 'A rejected message with its errors.', examples.rejectedMessage),
    message(JOB_REPORT, 'The report of a job that reports later.', examples.jobReport),
    message(BATCH_EVENT, 'A batch of tasks.', examples.batchEvent),
    ...Object.entries(EVENTS).map(([type, schema]) =>
      message(schema, type, EVENT_EXAMPLES[type] ?? {}, { contentType: 'application/cloudevents+json' }),
    ),
  ]);
};

/** A channel and its messages. */
interface Channel {
  readonly title: string;
  readonly description: string;
  readonly address: string | null;
  readonly server: 'sqs' | 'destinations';
  readonly messages: readonly string[];
  /** Whether Groupage sends messages to this channel or receives messages from it. */
  readonly action: 'send' | 'receive';
  readonly operation: string;
}

const EVENT_MESSAGES = [
  'TaskFailedEvent',
  'TaskSucceededEvent',
  'FanOutCompletedEvent',
  'FanOutExpiredEvent',
  'ListCompletedEvent',
];

const CHANNELS: Readonly<Record<string, Channel>> = {
  register: {
    title: 'Register queue',
    description: 'Producers send tasks to this queue, with SendMessage or SendMessageBatch.',
    address: '{registerQueue}',
    server: 'sqs',
    messages: ['RegisterMessage', 'RedriveMessage'],
    action: 'receive',
    operation: 'registerTasks',
  },
  rejected: {
    title: 'Rejected queue',
    description:
      'Groupage sends rejected messages with their errors here. They stay until a user redrives or deletes them.',
    address: '{rejectedQueue}',
    server: 'sqs',
    messages: ['RejectedMessage'],
    action: 'send',
    operation: 'rejectMessages',
  },
  jobReports: {
    title: 'Batch queue',
    description:
      'Jobs that report later send their results here (`groupage.grantComplete(job)` grants the permission). Groupage also uses this queue internally.',
    address: '{batchQueue}',
    server: 'sqs',
    messages: ['JobReport'],
    action: 'receive',
    operation: 'takeJobReports',
  },
  downstreamQueue: {
    title: 'Downstream queue',
    description:
      'A standard queue that an operation has as its downstream. Each batch is one message. The message attributes `Idempotency-Key` and `traceparent` repeat the values of the body.',
    address: null,
    server: 'sqs',
    messages: ['BatchEvent'],
    action: 'send',
    operation: 'sendBatches',
  },
  callbacks: {
    title: 'Destinations',
    description:
      'The configured destinations: queues (the event is the body), topics (the event is the message; filter by the attributes `type` and `source`), event buses (the event is the detail; `source` and `detail-type` are its source and type) and HTTP endpoints (a signed POST). Events are delivered at least once, in no particular order.',
    address: null,
    server: 'destinations',
    messages: EVENT_MESSAGES,
    action: 'send',
    operation: 'tellDestinations',
  },
};

const channelOf = ({ title, description, address, server, messages }: Channel): Json => ({
  address,
  title,
  description,
  servers: [{ $ref: `#/servers/${server}` }],
  messages: Object.fromEntries(messages.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  ...(address === null
    ? {}
    : { parameters: { [address.slice(1, -1)]: { description: 'The path of the queue: account and name.' } } }),
});

const operationOf = ([name, { title, action, messages }]: readonly [string, Channel]): Json => ({
  action,
  title,
  channel: { $ref: `#/channels/${name}` },
  messages: messages.map((message) => ({ $ref: `#/channels/${name}/messages/${message}` })),
});

/** The AsyncAPI document, written from the point of view of Groupage: `receive` marks messages that others send. */
export const asyncApi = (): Json => {
  const schemas = components();
  const messages = messagesOf(schemas);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Groupage',
      version: RELEASE,
      description:
        'Groups single tasks into full batches for a downstream batch API. This document describes the queues and callbacks of a deployment; openapi.json describes its HTTP API. Actions are from the point of view of Groupage: it receives what producers send.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      sqs: {
        host: 'sqs.{region}.amazonaws.com',
        protocol: 'sqs',
        description: "The queues, in the deployment's account and region. Requests are signed (AWS_IAM).",
        variables: { region: { description: "The deployment's region.", examples: ['eu-central-1'] } },
      },
      destinations: {
        host: '{host}',
        protocol: 'https',
        description: 'HTTP destinations. Queues, topics and event buses are AWS services.',
        variables: { host: { description: 'The host in the configured URL.', examples: ['parcels.example'] } },
      },
    },
    channels: Object.fromEntries(Object.entries(CHANNELS).map(([name, channel]) => [name, channelOf(channel)])),
    operations: Object.fromEntries(
      Object.entries(CHANNELS).map(([name, channel]) => [channel.operation, operationOf([name, channel])]),
    ),
    components: { schemas: schemas.sorted(), messages },
  };
};
