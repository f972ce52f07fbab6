/** The HTTP API, as OpenAPI 3.1 describes it. */

import type * as z from 'zod/mini';
import { ABOUT_DESCRIBED } from '../../src/api/about/responses.ts';
import { BATCHES_DESCRIBED } from '../../src/api/batches/responses.ts';
import { DOCTOR_DESCRIBED } from '../../src/api/doctor/responses.ts';
import { FAN_OUTS_DESCRIBED } from '../../src/api/fan-outs/responses.ts';
import { FLEETS_DESCRIBED } from '../../src/api/fleets/responses.ts';
import { LISTS_DESCRIBED } from '../../src/api/lists/responses.ts';
import { OPERATIONS_DESCRIBED } from '../../src/api/operations/responses.ts';
import { QUEUES_DESCRIBED } from '../../src/api/queues/responses.ts';
import { type Described, PROBLEM } from '../../src/api/shared/answer-schemas.ts';
import { isOptional } from '../../src/api/shared/input.ts';
import { TARGETS_DESCRIBED } from '../../src/api/targets/responses.ts';
import { FAILURES_DESCRIBED, TASKS_DESCRIBED } from '../../src/api/tasks/responses.ts';
import { RELEASE } from '../../src/domain/release.ts';
import { jobReport, registerMessage } from './examples.ts';
import { Components, type How, type Json } from './json-schema.ts';
// Says what the fields of a register message are.
import './register-message.ts';

/** All calls of the API. */
const CALLS: readonly Described[] = [
  ...TASKS_DESCRIBED,
  ...FAILURES_DESCRIBED,
  ...BATCHES_DESCRIBED,
  ...TARGETS_DESCRIBED,
  ...OPERATIONS_DESCRIBED,
  ...QUEUES_DESCRIBED,
  ...DOCTOR_DESCRIBED,
  ...FAN_OUTS_DESCRIBED,
  ...LISTS_DESCRIBED,
  ...FLEETS_DESCRIBED,
  ...ABOUT_DESCRIBED,
];

const { batchId: _, ...completion } = jobReport;
/** Bodies that are also messages of queues, with the examples of those. */
const EXAMPLES: Readonly<Record<string, Json>> = { sendTasks: registerMessage, completeBatch: completion };

/** What the parts of paths in braces are. */
const PATH_PARTS: Readonly<Record<string, string>> = {
  id: 'Its id. That of a batch has to be URL-encoded.',
  name: 'Its name.',
  queue: 'The queue whose dead letters they are, or `rejected`.',
  claim: 'The `claimId` that the claim was answered with.',
  node: "A node's key (`id@epoch`, one life of it), or its id where exactly one life of it has not ended.",
  partition: 'The id of the partition.',
};

const PROBLEMS = {
  400: 'The request is not valid; nothing was done.',
  413: 'The body has more than 6 MiB.',
  500: 'Something went wrong there; the log says what.',
  503: 'DynamoDB or SQS is throttled, or did not answer: ask again after `retry-after`. Some of it may have been done.',
} as const;

const problem = (schemas: Components, description: string): Json => ({
  description,
  content: { 'application/problem+json': { schema: schemas.of(PROBLEM) } },
});

/** The method of a call and its path, the names of whose parts are in braces. */
const placeOf = ({ on }: Described): { readonly method: string; readonly path: string } => {
  const [method = '', path = ''] = on.split(' ');
  return { method: method.toLowerCase(), path: path.replaceAll(/:(\w+)(?:\{\.\+\})?/g, '{$1}') };
};

const parametersOf = (schemas: Components, call: Described): readonly Json[] => [
  ...[...placeOf(call).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name],
    schema: { type: 'string' },
  })),
  ...Object.entries(call.query?.def.shape ?? {}).map(([name, schema]) => queryParameter(schemas, name, schema)),
];

const queryParameter = (schemas: Components, name: string, parameter: z.core.$ZodType): Json => {
  const { description, ...schema } = schemas.of(parameter);
  const isRequired = parameter._zod.optin === undefined;
  return { name, in: 'query', ...(isRequired ? { required: true } : {}), description, schema };
};

const content = (schemas: Components, schema: z.core.$ZodType, example: unknown): Json => ({
  'application/json': { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) },
});

const READ_UNITS = {
  'groupage-read-units': { $ref: '#/components/headers/ReadUnits' },
};

const answersOf = (schemas: Components, { answers, problems = {} }: Described, body: boolean): Json => ({
  ...Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, example }]) => [
      status,
      { description, headers: READ_UNITS, content: content(schemas, schema, example) },
    ]),
  ),
  400: problem(schemas, PROBLEMS[400]),
  ...Object.fromEntries(
    Object.entries(problems).map(([status, description]) => [status, problem(schemas, description ?? '')]),
  ),
  ...(body ? { 413: problem(schemas, PROBLEMS[413]) } : {}),
  500: problem(schemas, PROBLEMS[500]),
  503: {
    ...problem(schemas, [problems[503], PROBLEMS[503]].filter(Boolean).join(' ')),
    headers: { 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
  },
});

/** Of a GET or DELETE a body says nothing, by HTTP: one is refused where it could be meant. */
const takesBody = ({ on, body }: Described): boolean => body !== undefined && /^(?:POST|PUT) /.test(on);

const operationOf = (schemas: Components, call: Described): Json => {
  const { id, summary, description, body, example } = call;
  const parameters = parametersOf(schemas, call);
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [placeOf(call).path.split('/')[1]],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body && takesBody(call)
      ? { requestBody: { required: !isOptional(body), content: content(schemas, body, EXAMPLES[id] ?? example) } }
      : {}),
    responses: answersOf(schemas, call, takesBody(call)),
  };
};

const pathsOf = (schemas: Components): Json => {
  const paths: Record<string, Record<string, Json>> = {};
  for (const call of CALLS) {
    const { method, path } = placeOf(call);
    paths[path] = { ...paths[path], [method]: operationOf(schemas, call) };
  }
  return paths;
};

const TAGS: Readonly<Record<string, string>> = {
  tasks: 'Units of work, from their registration to their result.',
  failures: 'Why tasks failed.',
  batches: 'What goes downstream in one call.',
  targets: 'Where tasks wait for each other.',
  operations: 'The configured kinds of work: paused, broken or full.',
  queues: 'Where messages are now.',
  'dead-letters': 'Messages that nobody works off.',
  doctor: 'What is stuck.',
  'fan-outs': 'N items, of which it is to be known exactly once that the last is done.',
  lists: 'Jobs that wait until somebody asks for them.',
  fleets: 'Long-running workers that share partitions.',
  about: 'What answers.',
  'openapi.json': 'This document.',
};

export const openApi = (how: How = {}): Json => {
  const schemas = new Components(how);
  const paths = pathsOf(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Groupage',
      version: RELEASE,
      summary: 'Turns a stream of single tasks into full batches for a downstream batch API.',
      description:
        'The HTTP API of a deployment. A query parameter or a field that a call does not know is refused; whoever reads answers has to expect fields that are not here yet. What a downstream is asked and what destinations are told is described by the JSON Schemas and asyncapi.json beside this document.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: 'https://{urlId}.lambda-url.{region}.on.aws/v1',
        description: "A deployment's function URL (the output `ApiUrl`).",
        variables: { urlId: { default: 'URL_ID' }, region: { default: 'eu-central-1' } },
      },
      {
        url: 'http://127.0.0.1:4500/v1',
        description: 'The local stack, from this machine alone. It takes requests without a signature.',
      },
    ],
    security: [{ awsIam: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.sorted(),
      headers: {
        ReadUnits: {
          description: 'What the reads of DynamoDB for this answer consumed, in read units; writes are not counted.',
          schema: { type: 'number', minimum: 0 },
        },
        RetryAfter: {
          description: 'In how many seconds to ask again, at the earliest.',
          schema: { type: 'integer', minimum: 0 },
        },
      },
      securitySchemes: {
        awsIam: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'AWS_IAM: AWS Signature Version 4 for the service `lambda`. A request that is not signed, or whose signer may not call the function, is refused by AWS with 403 and `{"Message": "…"}`. The local stack needs none.',
          'x-amazon-apigateway-authtype': 'awsSigv4',
        },
      },
    },
  };
};
