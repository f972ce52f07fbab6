/** The queues and callbacks, as AsyncAPI 3.0 describes them. */

import { RELEASE } from '../../src/domain/release.ts';
import { BATCH_EVENT, JOB_REPORT } from './downstream-call.ts';
import { EVENTS } from './events.ts';
import * as examples from './examples.ts';
import { Components, type Json } from './json-schema.ts';
import { REDRIVE_MESSAGE, REGISTER_MESSAGE, REJECTED_MESSAGE } from './register-message.ts';

/** Of a schema of ours. Draft 7 is what AsyncAPI's own schemas extend. */
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
    message(REDRIVE_MESSAGE, 'Another run for a task that failed.', examples.redriveMessage),
    message(REJECTED_MESSAGE, 'A message that was refused, and why.', examples.rejectedMessage),
    message(JOB_REPORT, 'How a job ended that reports later.', examples.jobReport),
    message(BATCH_EVENT, 'A batch of tasks.', examples.batchEvent),
    ...Object.entries(EVENTS).map(([type, schema]) =>
      message(schema, type, EVENT_EXAMPLES[type] ?? {}, { contentType: 'application/cloudevents+json' }),
    ),
  ]);
};

/** A channel, and what is said on it. */
interface Channel {
  readonly title: string;
  readonly description: string;
  readonly address: string | null;
  readonly server: 'sqs' | 'destinations';
  readonly messages: readonly string[];
  /** What Groupage does there. */
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
    description: 'Producers send tasks here. SendMessageBatch is welcome.',
    address: '{registerQueue}',
    server: 'sqs',
    messages: ['RegisterMessage', 'RedriveMessage'],
    action: 'receive',
    operation: 'registerTasks',
  },
  rejected: {
    title: 'Rejected queue',
    description: 'What was refused lies here, with its reasons, until somebody sees to it.',
    address: '{rejectedQueue}',
    server: 'sqs',
    messages: ['RejectedMessage'],
    action: 'send',
    operation: 'rejectMessages',
  },
  jobReports: {
    title: 'Batch queue',
    description:
      'Jobs that report later say here how they ended (`groupage.grantComplete(job)` lets them). Groupage sends itself other messages there.',
    address: '{batchQueue}',
    server: 'sqs',
    messages: ['JobReport'],
    action: 'receive',
    operation: 'takeJobReports',
  },
  downstreamQueue: {
    title: 'Downstream of the kind queue',
    description:
      'A standard queue that an operation names; each batch is one message. The attributes `Idempotency-Key` and `traceparent` say what the body does.',
    address: null,
    server: 'sqs',
    messages: ['BatchEvent'],
    action: 'send',
    operation: 'sendBatches',
  },
  callbacks: {
    title: 'Destinations',
    description:
      'Queues (the event is the body), topics (the message; the attributes `type` and `source` are there to filter by), event buses (the detail; `source` and `detail-type` are its source and type) and HTTP endpoints (a signed POST), as the configuration names them. At least once, in no order.',
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
    : { parameters: { [address.slice(1, -1)]: { description: 'Its path: account and name.' } } }),
});

const operationOf = ([name, { title, action, messages }]: readonly [string, Channel]): Json => ({
  action,
  title,
  channel: { $ref: `#/channels/${name}` },
  messages: messages.map((message) => ({ $ref: `#/channels/${name}/messages/${message}` })),
});

/** Seen from Groupage: it receives what others send. */
export const asyncApi = (): Json => {
  const schemas = components();
  const messages = messagesOf(schemas);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Groupage',
      version: RELEASE,
      description:
        'Turns a stream of single tasks into full batches for a downstream batch API. The queues and callbacks of a deployment; its HTTP API is described by openapi.json. Written from the point of view of Groupage: it receives what producers send.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      sqs: {
        host: 'sqs.{region}.amazonaws.com',
        protocol: 'sqs',
        description: "Queues of the deployment's account and region. Calls are signed (AWS_IAM).",
        variables: { region: { description: "The deployment's region.", examples: ['eu-central-1'] } },
      },
      destinations: {
        host: '{host}',
        protocol: 'https',
        description: 'Of the kind http. Queues, topics and event buses are those of AWS.',
        variables: { host: { description: 'As the configuration names it.', examples: ['parcels.example'] } },
      },
    },
    channels: Object.fromEntries(Object.entries(CHANNELS).map(([name, channel]) => [name, channelOf(channel)])),
    operations: Object.fromEntries(
      Object.entries(CHANNELS).map(([name, channel]) => [channel.operation, operationOf([name, channel])]),
    ),
    components: { schemas: schemas.sorted(), messages },
  };
};
