/** The OpenAPI 3.1 document of the HTTP API. */

import type * as z from 'zod/mini';
import { ABOUT_DESCRIBED } from '../../src/api/about/responses.ts';
import { AUDIT_DESCRIBED } from '../../src/api/audit/responses.ts';
import { BATCHES_DESCRIBED } from '../../src/api/batches/responses.ts';
import { DOCTOR_DESCRIBED } from '../../src/api/doctor/responses.ts';
import { FAN_OUTS_DESCRIBED } from '../../src/api/fan-outs/responses.ts';
import { FLEETS_DESCRIBED } from '../../src/api/fleets/responses.ts';
import { LIMITS_DESCRIBED } from '../../src/api/limits/responses.ts';
import { LISTS_DESCRIBED } from '../../src/api/lists/responses.ts';
import { OPERATIONS_DESCRIBED } from '../../src/api/operations/responses.ts';
import { QUEUES_DESCRIBED } from '../../src/api/queues/responses.ts';
import { type Described, PROBLEM } from '../../src/api/shared/answer-schemas.ts';
import { queryOf } from '../../src/api/shared/audited.ts';
import { isOptional } from '../../src/api/shared/input.ts';
import { TARGETS_DESCRIBED } from '../../src/api/targets/responses.ts';
import { FAILURES_DESCRIBED, TASKS_DESCRIBED } from '../../src/api/tasks/responses.ts';
import { RELEASE } from '../../src/domain/release.ts';
import { jobReport, registerMessage } from './examples.ts';
import { Components, type How, type Json } from './json-schema.ts';
import { PATH_PARTS } from './path-parts.ts';
// This import adds the descriptions of the fields of a register message.
import './register-message.ts';

/** All calls of the API. */
export const CALLS: readonly Described[] = [
  ...TASKS_DESCRIBED,
  ...FAILURES_DESCRIBED,
  ...BATCHES_DESCRIBED,
  ...TARGETS_DESCRIBED,
  ...OPERATIONS_DESCRIBED,
  ...LIMITS_DESCRIBED,
  ...QUEUES_DESCRIBED,
  ...DOCTOR_DESCRIBED,
  ...FAN_OUTS_DESCRIBED,
  ...LISTS_DESCRIBED,
  ...FLEETS_DESCRIBED,
  ...AUDIT_DESCRIBED,
  ...ABOUT_DESCRIBED,
];

const { batchId: _, ...completion } = jobReport;
/** Examples of request bodies that are also messages of queues. */
const EXAMPLES: Readonly<Record<string, Json>> = { sendTasks: registerMessage, completeBatch: completion };

const PROBLEMS = {
  400: 'The request is invalid; nothing was done.',
  403: 'The rights of the caller are limited and do not include this call (`x-groupage-right`); nothing was done.',
  413: 'The body is larger than 6,200,000 bytes, as Lambda counts them.',
  500: 'An internal error. The log of the API function has the details.',
  503: 'DynamoDB or SQS throttled the request or did not answer. Part of the request may have been done: repeat it after `retry-after`.',
} as const;

const problem = (schemas: Components, description: string): Json => ({
  description,
  content: { 'application/problem+json': { schema: schemas.of(PROBLEM) } },
});

/** The method of a call, and its path with parameters in braces. */
const placeOf = ({ on }: Described): { readonly method: string; readonly path: string } => {
  const [method = '', path = ''] = on.split(' ');
  return { method: method.toLowerCase(), path: path.replaceAll(/:(\w+)(?:\{\S+?\}(?=\/|$))?/g, '{$1}') };
};

const parametersOf = (schemas: Components, call: Described): readonly Json[] => [
  ...[...placeOf(call).path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, before = '', name]) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARTS[before],
  })),
  ...Object.entries(queryOf(call)?.def.shape ?? {}).map(([name, schema]) => queryParameter(schemas, name, schema)),
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
  403: problem(schemas, PROBLEMS[403]),
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

/** Whether to document the body of a call. HTTP gives the body of a GET or DELETE no meaning, so it is left out. */
const takesBody = ({ on, body }: Described): boolean => body !== undefined && /^(?:POST|PUT) /.test(on);

const operationOf = (schemas: Components, call: Described): Json => {
  const { id, summary, description, body, example } = call;
  const parameters = parametersOf(schemas, call);
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [placeOf(call).path.split('/')[1]],
    'x-groupage-right': call.right,
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
  tasks: 'Tasks, from their registration to their result.',
  failures: 'Failed tasks, grouped by cause.',
  batches: 'Batches of tasks, and reports of their jobs.',
  targets: 'Targets: groups of tasks that can share a batch.',
  operations: 'The state of the configured operations; pause and resume.',
  limits: 'Limits that operations share: their use, and the Targets that wait.',
  queues: 'Numbers of messages in the queues.',
  'dead-letters': 'Messages that could not be processed: list, redrive, discard.',
  doctor: 'Finds and repairs what is stuck.',
  'fan-outs': 'Sets of items, each with one event when all items are done.',
  lists: 'Deferred lists: jobs that wait until they are triggered or claimed.',
  fleets: 'Long-running workers that share partitions.',
  audit: 'The audit trail: who did what, and why.',
  about: 'The release of the API.',
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
      summary: 'Groups single tasks into full batches for a downstream batch API.',
      description:
        'The HTTP API of a deployment. Unknown query parameters and fields in requests are refused. Clients must accept unknown fields in answers, since later releases may add some. The JSON Schemas and asyncapi.json beside this document describe downstream calls and callback events.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: 'https://{urlId}.lambda-url.{region}.on.aws/v1',
        description: 'A deployment with a function URL; the stack output `ApiUrl` has the address of any deployment.',
        variables: { urlId: { default: 'URL_ID' }, region: { default: 'eu-central-1' } },
      },
      {
        url: 'http://127.0.0.1:4500/v1',
        description: 'The local stack, reachable from this machine only. It accepts requests without a signature.',
      },
    ],
    security: [{ awsIam: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.sorted(),
      headers: {
        ReadUnits: {
          description: 'DynamoDB read units that this request consumed. Writes are not counted.',
          required: true,
          schema: { type: 'number', minimum: 0 },
        },
        RetryAfter: {
          description: 'Seconds to wait before the request is repeated.',
          required: true,
          schema: { type: 'integer', minimum: 0 },
        },
      },
      securitySchemes: {
        awsIam: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'AWS_IAM: AWS Signature Version 4 for the service `lambda`, or `execute-api` behind API Gateway. AWS refuses a request without a signature, or whose signer may not invoke the API, with 403 and `{"Message": "…"}` or `{"message": "…"}`. The local stack needs no signature.',
          'x-amazon-apigateway-authtype': 'awsSigv4',
        },
      },
    },
  };
};
