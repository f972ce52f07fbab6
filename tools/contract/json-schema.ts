/** JSON Schemas of zod's schemas. */
import * as z from 'zod/mini';

/** JSON, as it is written. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * `draft-2020-12` for files and OpenAPI; `draft-7` is what every tool for AsyncAPI reads.
 *
 * `closed`: with a field that it does not have, nothing that was said holds. So tests read it, to notice a field of which nobody
 * wrote; others get to read it open, so that a new field breaks nobody.
 */
export interface How {
  readonly target?: 'draft-2020-12' | 'draft-7';
  readonly closed?: boolean;
}

interface Written {
  readonly $defs?: Readonly<Record<string, Json>>;
  readonly $ref?: string;
}

/** As zod writes it: whatever has a name among `$defs`, also the schema itself. */
const written = (schema: z.core.$ZodType, { target = 'draft-2020-12', closed = false }: How): Json & Written => {
  const {
    $schema: _,
    definitions,
    $defs = definitions,
    ...rest
  } = z.toJSONSchema(schema, {
    target,
    io: closed ? 'output' : 'input',
    // What is checked by our own functions says in its metadata what it is.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => inForms(jsonSchema as Record<string, unknown>, { target, closed }),
  }) as Json;
  return { ...rest, ...($defs === undefined ? {} : { $defs }) } as Json & Written;
};

/** What is checked otherwise than it is published says in its metadata which forms it has. */
const inForms = (schema: Record<string, unknown>, how: How): void => {
  const { forms, id, description } = schema;
  if (!Array.isArray(forms)) return;
  for (const name of Object.keys(schema)) delete schema[name];
  Object.assign(schema, { anyOf: forms.map((form) => written(form, how)), id, description });
};

/** A schema by itself, and those with names that it refers to, as `#/$defs/NAME`. */
export const jsonSchema = (schema: z.core.$ZodType, how: How = {}): Json => {
  const { $ref, $defs = {}, ...rest } = written(schema, how);
  const own = $ref?.split('/').at(-1) ?? '';
  const { [own]: named = {}, ...others } = $defs;
  return { ...named, ...rest, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) };
};

/** Schemas by their names, which refer to each other as `#/components/schemas/NAME`. */
export class Components {
  readonly #schemas: Record<string, unknown> = {};
  readonly #how: How;
  constructor(how: How = {}) {
    this.#how = how;
  }

  /** A schema as it is to be written into the document: a reference, if it has a name. */
  of(schema: z.core.$ZodType): Json {
    const { $defs = {}, ...rest } = written(schema, this.#how);
    for (const [name, each] of Object.entries($defs)) this.#schemas[name] ??= moved(each);
    return moved(rest) as Json;
  }

  /** In an order that does not depend on who asked first. */
  sorted(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const PLACE = '#/components/schemas/';

/** With references to where a document keeps its schemas. */
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
