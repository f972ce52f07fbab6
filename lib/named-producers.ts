/** The roles behind the configured names of producers. The functions know them by an environment variable. */
import { Lazy, Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import type { Config } from '../src/domain/config/resolved.ts';
import type { Handler } from './handler.ts';
import { InvalidProps } from './invalid-props.ts';

/** Lambda limits all variables of a function to 4 KB. */
const MAX_BYTES = 300;
/** Length of IAM's unique id of a role, with the JSON around it. */
const ID_BYTES = 24;

export class NamedProducers {
  readonly #scope: IConstruct;
  readonly #known: readonly string[];
  readonly #functions: readonly Handler[];
  readonly #ids = new Map<string, Set<string>>();

  /** @param functions the functions that apply the rules of producers */
  constructor(scope: IConstruct, { producers = {} }: Pick<Config, 'producers'>, functions: readonly Handler[]) {
    this.#scope = scope;
    this.#known = Object.keys(producers);
    this.#functions = functions;
  }

  /** @throws InvalidProps */
  add(name: string, producer: IGrantable): void {
    const are = this.#known.length > 0 ? `configured are ${this.#known.join(', ')}` : 'none is configured';
    if (!this.#known.includes(name))
      throw new InvalidProps(
        this.#scope,
        `no producer ${JSON.stringify(name)} is configured: ${are}. Add "${name}": [] to "producers" of the configuration`,
      );
    const ids = this.#ids.get(name) ?? new Set();
    this.#ids.set(name, ids.add(this.#idOf(name, producer)));
    const bytes = [...this.#ids].reduce((sum, [each, { size }]) => sum + each.length + size * ID_BYTES + 6, 2);
    if (bytes > MAX_BYTES)
      throw new InvalidProps(
        this.#scope,
        `the named producers need ${bytes} bytes of the functions' environment, which has space for ${MAX_BYTES}: grant further roles without "as", and write their unique ids under "producers" of the configuration`,
      );
    if (this.#ids.size > 1 || ids.size > 1) return;
    const text = Lazy.string({ produce: () => Stack.of(this.#scope).toJsonString(this.#asObject()) });
    for (const handler of this.#functions) handler.set('producers', text);
  }

  #asObject(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#ids].map(([name, ids]) => [name, [...ids]]));
  }

  /** @throws InvalidProps */
  #idOf(name: string, { grantPrincipal }: IGrantable): string {
    // Not `instanceof Role`: the app may load another copy of the CDK.
    const { roleId } = grantPrincipal as { readonly roleId?: unknown };
    if (typeof roleId === 'string') return roleId;
    throw new InvalidProps(
      this.#scope,
      `CloudFormation does not know the unique id of this producer, because this app does not create its role: grant without "as", look up the id (aws iam get-role), and write it under "producers.${name}" of the configuration`,
    );
  }
}
