/** The roles behind the configured names of producers. The functions know them by an environment variable. */
import { Lazy, Reference, Stack, Tokenization } from 'aws-cdk-lib';
import type { IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam';
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
    if (typeof roleId === 'string') {
      this.#expectNoCycle(name, roleId);
      return roleId;
    }
    throw new InvalidProps(
      this.#scope,
      `CloudFormation does not know the unique id of this producer, ${whyUnknown(grantPrincipal)}: grant without "as", ${writeId(name)}`,
    );
  }

  /** @throws InvalidProps if the role is in another stack, whose policy would refer to the queue of this one */
  #expectNoCycle(name: string, roleId: string): void {
    const here = deployedWith(this.#scope);
    const others = Tokenization.reverseString(roleId).tokens.filter(Reference.isReference);
    const other = others.map(({ target }) => deployedWith(target)).find((stack) => stack !== here);
    if (other)
      throw new InvalidProps(
        this.#scope,
        `the role of the producer belongs to the stack ${other.node.path}. The functions would need its unique id, and its policy needs the queue, so neither stack could be deployed first: create the role in the stack of Groupage; or grant without "as", ${writeId(name)}`,
      );
  }
}

const writeId = (name: string): string =>
  `look up the id (aws iam get-role, get-user), and write it under "producers.${name}" of the configuration`;

const whyUnknown = (principal: IPrincipal): string =>
  'userArn' in principal
    ? 'because CloudFormation returns no unique ids of users'
    : 'roleArn' in principal
      ? 'because this app does not create its role'
      : 'because it is no role';

/** The stack that is deployed as one with its nested stacks. */
const deployedWith = (construct: IConstruct): Stack => {
  const stack = Stack.of(construct);
  return stack.nestedStackParent ? deployedWith(stack.nestedStackParent) : stack;
};
