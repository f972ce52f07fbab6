/**
 * Checks the real answers of the HTTP API against the published description. Schemas are closed, so that an
 * undescribed field is found.
 */
import type { ValidateFunction } from 'ajv';
import type { Json } from '../../tools/contract/json-schema.ts';
import { openApi } from '../../tools/contract/openapi.ts';
import { faultsOf, validator } from './ajv.ts';

/** A request and its answer. */
export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: Json; readonly example?: unknown }>>;

const DOCUMENT = openApi({ closed: true }) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Json };
};

/** Each described operation with each of its statuses. */
export const described = (): readonly { readonly operation: string; readonly status: string }[] =>
  operations().flatMap(({ operation: { operationId: operation, responses } }) =>
    Object.keys(responses).map((status) => ({ operation, status })),
  );

/** Each route in the notation of OpenAPI: `GET /v1/tasks/{id}`. */
export const describedRoutes = (): readonly string[] =>
  operations().map(({ method, path }) => `${method.toUpperCase()} /v1${path}`);

/** The routes with a name in their path that describe a status: `GET /tasks/{id}`. */
export const routesWith = (status: string): readonly (readonly [route: string, operation: Operation])[] =>
  operations().flatMap(({ method, path, operation }) =>
    path.includes('{') && operation.responses[status] ? [[`${method.toUpperCase()} ${path}`, operation] as const] : [],
  );

const operations = () =>
  Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Literal paths come first: `/tasks/redrive` is not a task. */
const PATTERNS = operations()
  .map(({ path, method, operation }) => ({
    method: method.toUpperCase(),
    operation,
    parameters: path.split('{').length,
    // The ids of batches contain slashes, which some gateways decode.
    pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, path.startsWith('/batches') ? '.+' : '[^/]+')}$`),
  }))
  .sort((a, b) => a.parameters - b.parameters || b.pattern.source.length - a.pattern.source.length);

const compiled = new WeakMap<object, ValidateFunction>();
const validatorOf = (schema: Json): ValidateFunction => {
  const known = compiled.get(schema) ?? validator({ ...schema, components: DOCUMENT.components });
  compiled.set(schema, known);
  return known;
};

/**
 * Checks an exchange against its description.
 *
 * @returns the id of its operation; undefined if no operation matches
 * @throws Error if the exchange differs from the description
 */
export const asDescribed = ({ method, path, body = '', status, type, text }: Exchange): string | undefined => {
  const [pathname = ''] = path.split('?');
  const found = PATTERNS.find((each) => each.method === method.toUpperCase() && each.pattern.test(pathname));
  if (!found) return undefined;
  const { operationId, responses, requestBody } = found.operation;
  const fail = (what: string): never => {
    throw new Error(
      `${operationId}: ${method} ${path} ${body.slice(0, 500)} → ${status} ${text.slice(0, 500)}: ${what}`,
    );
  };
  const { content } = responses[status] ?? fail('the status is not described');
  const [[mediaType, { schema }]] = Object.entries(content) as [[string, { schema: Json }]];
  if (type !== mediaType) fail(`is ${type}, not ${mediaType}`);
  const faults = faultsOf(validatorOf(schema), JSON.parse(text));
  if (faults.length > 0) fail(faults.join('; '));
  // An accepted body has to match the described body.
  const sent = body.replace(/^\ufeff/, '');
  if (status < 400 && sent !== '') {
    const wanted = requestBody?.content['application/json']?.schema;
    const refused = wanted ? faultsOf(validatorOf(wanted), JSON.parse(sent)) : [];
    if (refused.length > 0) fail(`took a body that is described otherwise: ${refused.join('; ')}`);
  }
  if (status < 400 && sent === '' && requestBody?.required) fail('took no body');
  return operationId;
};
