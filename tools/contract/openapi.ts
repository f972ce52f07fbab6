/** The HTTP API, as OpenAPI 3.1 describes it. */

import { RELEASE } from '../../src/domain/release.ts';
import { BATCH_ROUTES } from './api/batches.ts';
import { FAN_OUT_ROUTES } from './api/fan-outs.ts';
import { FLEET_ROUTES } from './api/fleets.ts';
import { FLOW_ROUTES } from './api/flow.ts';
import { LIST_ROUTES } from './api/lists.ts';
import { PATH_PARTS, type Parameter, PROBLEM, type Route } from './api/route.ts';
import { TASK_ROUTES } from './api/tasks.ts';
import { THIS_ROUTES } from './api/this.ts';
import { Components, type How, type Json } from './json-schema.ts';

/** All routes of the API. */
const ROUTES: readonly Route[] = [
  ...TASK_ROUTES,
  ...BATCH_ROUTES,
  ...FLOW_ROUTES,
  ...FAN_OUT_ROUTES,
  ...LIST_ROUTES,
  ...FLEET_ROUTES,
  ...THIS_ROUTES,
];

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

const parametersOf = (schemas: Components, { path, query = {} }: Route): readonly Json[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name],
    schema: { type: 'string' },
  })),
  ...Object.entries(query).map(([name, parameter]) => queryParameter(schemas, name, parameter)),
];

const queryParameter = (schemas: Components, name: string, { schema, required }: Parameter): Json => {
  const { description, ...rest } = schemas.of(schema);
  return { name, in: 'query', ...(required ? { required } : {}), description, schema: rest };
};

const content = (schemas: Components, schema: Parameter['schema'], example: unknown): Json => ({
  'application/json': { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) },
});

const READ_UNITS = {
  'groupage-read-units': { $ref: '#/components/headers/ReadUnits' },
};

const answersOf = (schemas: Components, { answers, problems = {}, body }: Route): Json => ({
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

const operationOf = (schemas: Components, route: Route): Json => {
  const { id, summary, description, path, body } = route;
  const parameters = parametersOf(schemas, route);
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [path.split('/')[1]],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: body.optional !== true, content: content(schemas, body.schema, body.example) } }
      : {}),
    responses: answersOf(schemas, route),
  };
};

const pathsOf = (schemas: Components): Json => {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of ROUTES) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(schemas, route) };
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
