/** Parameters in the paths of the HTTP API: their forms, descriptions and examples. */
import { LETTER_QUEUE_NAME } from '../../src/api/queues/responses.ts';
import { FAN_OUT_ID_PATTERN } from '../../src/domain/fan-out-ids.ts';
import { FLEET_NAME_PATTERN, KEY_OR_ID_PATTERN } from '../../src/domain/fleets/ids.ts';
import { BATCH_ID_MAX_BYTES, OPERATION_NAME_PATTERN, TASK_ID_PATTERN } from '../../src/domain/ids.ts';
import { CLAIM_NAME_PATTERN } from '../../src/domain/lists/ids.ts';
import { published } from '../../src/util/limits.ts';
import { jobReport, registerMessage } from './examples.ts';
import { type Json, jsonSchema } from './json-schema.ts';

/** No value in another form names anything: the API answers it with 404. */
const formed = (description: string, pattern: RegExp, example: string) => ({
  description,
  schema: { type: 'string', ...published({ pattern }) },
  example,
});

const { description: _, ...queueName } = jsonSchema(LETTER_QUEUE_NAME);

/** By the part of the path before the parameter. */
export const PATH_PARTS: Readonly<Record<string, Json>> = {
  tasks: formed('The id of the task.', TASK_ID_PATTERN, registerMessage.id),
  batches: {
    description: 'The id of the batch. URL-encode it.',
    schema: { type: 'string', ...published({ minLength: 1, maxLength: BATCH_ID_MAX_BYTES }) },
    examples: {
      grouped: { value: jobReport.batchId },
      ungrouped: { value: 'send-digest#1#1', summary: 'Of an operation without grouping fields.' },
    },
  },
  limits: formed('The name of the limit.', OPERATION_NAME_PATTERN, 'vendor-api'),
  operations: formed('The name of the operation.', OPERATION_NAME_PATTERN, registerMessage.operation),
  'dead-letters': {
    description: 'The queue whose dead letters are meant, or `rejected` or `given-up`.',
    schema: queueName,
    example: 'batch',
  },
  'fan-outs': formed('The id of the fan-out.', FAN_OUT_ID_PATTERN, '01KDVY3C5ZKQ'),
  lists: formed('The id of the list.', FAN_OUT_ID_PATTERN, 'spring'),
  claims: formed(
    'The `claimId` from the answer of the claim, the one that was sent, or the name in the list of claims.',
    CLAIM_NAME_PATTERN,
    'worker-1.10.100.YipJTT',
  ),
  fleets: formed('The name of the fleet.', FLEET_NAME_PATTERN, 'flights'),
  nodes: formed(
    "The node's key (`id@epoch`), or its id if exactly one node with this id is active.",
    KEY_OR_ID_PATTERN,
    'worker-1',
  ),
  partitions: formed('The id of the partition.', FLEET_NAME_PATTERN, 'north'),
};
