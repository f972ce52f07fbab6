/** JSON Schemas of zod's schemas. */
import * as z from 'zod/mini';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * `draft-2020-12` for files and OpenAPI; `draft-7` for AsyncAPI, whose tools read no other.
 *
 * `closed`: unknown fields are invalid. Tests use closed schemas to find undocumented fields. The published schemas of
 * answers are open, so that a new field breaks no client.
 */
export interface How {
  readonly target?: 'draft-2020-12' | 'draft-7';
  readonly closed?: boolean;
}

interface Written {
  readonly $defs?: Readonly<Record<string, Json>>;
  readonly $ref?: string;
}

/** The schema as zod prints it. All schemas with an id are among `$defs`, including the schema itself. */
const written = (schema: z.core.$ZodType, { target = 'draft-2020-12', closed = false }: How): Json & Written => {
  const {
    $schema: _,
    definitions,
    $defs = definitions,
    ...rest
  } = z.toJSONSchema(schema, {
    target,
    io: closed ? 'output' : 'input',
    // Custom checks have their published form in their metadata.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => inForms(jsonSchema as Record<string, unknown>, { target, closed }),
  }) as Json;
  return { ...rest, ...($defs === undefined ? {} : { $defs }) } as Json & Written;
};

/** Replaces a schema by the published forms in its metadata, if it has any. */
const inForms = (schema: Record<string, unknown>, how: How): void => {
  const { forms, id, description } = schema;
  if (!Array.isArray(forms)) return;
  for (const name of Object.keys(schema)) delete schema[name];
  Object.assign(schema, { anyOf: forms.map((form) => written(form, how)), id, description });
};

/** A schema with the named schemas that it refers to under `#/$defs/NAME`. */
export const jsonSchema = (schema: z.core.$ZodType, how: How = {}): Json => {
  const { $ref, $defs = {}, ...rest } = written(schema, how);
  const own = $ref?.split('/').at(-1) ?? '';
  const { [own]: named = {}, ...others } = $defs;
  return { ...named, ...rest, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) };
};

/** Collects named schemas, which refer to each other as `#/components/schemas/NAME`. */
export class Components {
  readonly #schemas: Record<string, unknown> = {};
  readonly #how: How;
  constructor(how: How = {}) {
    this.#how = how;
  }

  /** The schema for the document: a reference if it has a name. */
  of(schema: z.core.$ZodType): Json {
    const { $defs = {}, ...rest } = written(schema, this.#how);
    for (const [name, each] of Object.entries($defs)) this.#schemas[name] ??= moved(each);
    return moved(rest) as Json;
  }

  /** The schemas in alphabetical order, independent of the order of calls. */
  sorted(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const PLACE = '#/components/schemas/';

/** Rewrites references to the place where a document keeps its schemas. */
const moved = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? each.replace(/^#\/(?:\$defs|definitions)\//, PLACE) : moved(each),
    ]),
  );
};
