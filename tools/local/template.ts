/**
 * Reads a synthesized CDK app, so that the local stack runs the same template as a deployment.
 *
 * It supports the resources and intrinsic functions that the stacks use. If the stacks need anything else, the start
 * stops with an error that names it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_REGION } from './clients.ts';

/** The types of resources that the local stack reads. */
export const resourcesUsed: ReadonlySet<string> = new Set([
  'AWS::DynamoDB::Table',
  'AWS::SQS::Queue',
  'AWS::Lambda::Function',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Events::Rule',
]);

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** The parts of a CloudFormation template that the local stack reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<
    Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } }>
  >;
}

/** A resource with its local name, and its properties with intrinsic functions resolved. */
export interface Found {
  /** Derived from the construct path, e.g. `Flow-Register-Queue`, so that the name is the same at each synthesis. */
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The template contains something unsupported. */
export class UnknownInTemplate extends Error {
  override readonly name = 'UnknownInTemplate';
  constructor(what: string) {
    super(`the synthesized template contains ${what}, which the local stack does not support`);
  }
}

/** The account of local ARNs. fauxqs reports it as the `SenderId` of every message. */
export const LOCAL_ACCOUNT = '000000000000';

/** Location of a template's resources, from which their names, URLs and ARNs are made. */
export interface Place {
  /** Endpoint of the queues. */
  readonly sqs: string;
  /** Prefix of all names, so that several stacks can share the engines. */
  readonly prefix?: string;
  readonly region?: string;
  readonly account?: string;
}

/** A synthesized CDK app: its resources, with references between them resolved. */
export class CloudAssembly {
  readonly #folder: string;
  readonly #place: Required<Place>;
  readonly #resources = new Map<string, Resource>();
  readonly #exports = new Map<string, unknown>();

  constructor(folder: string, place: Place) {
    this.#folder = folder;
    this.#place = { prefix: '', region: LOCAL_REGION, account: LOCAL_ACCOUNT, ...place };
    const manifest = this.#read('manifest.json') as {
      artifacts: Record<string, { type: string; properties?: { templateFile?: string } }>;
    };
    for (const { type, properties } of Object.values(manifest.artifacts))
      if (type === 'aws:cloudformation:stack' && properties?.templateFile)
        this.#add(this.#read(properties.templateFile) as Template);
  }

  /** All resources of a CloudFormation type. */
  all(type: string): Found[] {
    return [...this.#resources]
      .filter(([, resource]) => resource.Type === type)
      .map(([id, { Properties = {} }]) => ({
        name: this.#nameOf(id),
        properties: this.#resolve(Properties) as Found['properties'],
      }));
  }

  urlOf({ name }: Pick<Found, 'name'>): string {
    return `${this.#place.sqs}/${this.#place.account}/${name}`;
  }

  /** The folder with a function's code. */
  codeOf(fn: Found): string {
    const key = (fn.properties.Code as { S3Key?: string } | undefined)?.S3Key?.replace(/\.zip$/, '');
    if (!key) throw new UnknownInTemplate(`a function without an asset (${fn.name})`);
    return join(this.#folder, `asset.${key}`);
  }

  #read(file: string): unknown {
    return JSON.parse(readFileSync(join(this.#folder, file), 'utf8'));
  }

  #add({ Resources, Outputs = {} }: Template): void {
    for (const [id, resource] of Object.entries(Resources)) this.#resources.set(id, resource);
    for (const { Value, Export } of Object.values(Outputs)) if (Export) this.#exports.set(String(Export.Name), Value);
  }

  #resource(id: string): Resource {
    const resource = this.#resources.get(id);
    if (!resource) throw new UnknownInTemplate(`a reference to ${id}`);
    return resource;
  }

  /** The construct path without the stack and without redundant parts. */
  #nameOf(id: string): string {
    const path = this.#resource(id).Metadata?.['aws:cdk:path'];
    if (typeof path !== 'string') return id;
    const parts = path.split('/').slice(1);
    return this.#place.prefix + parts.filter((part) => part !== 'Resource').join('-');
  }

  #resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#resolve(each));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only && (only[0] === 'Ref' || only[0].startsWith('Fn::')))
      return this.#intrinsic(only[0], only[1]);
    return Object.fromEntries(entries.map(([key, each]) => [key, this.#resolve(each)]));
  }

  #intrinsic(name: string, argument: unknown): unknown {
    switch (name) {
      case 'Ref':
        return this.#ref(String(argument));
      case 'Fn::GetAtt': {
        const [id, attribute] = argument as [string, string];
        return this.#attribute(id, attribute);
      }
      case 'Fn::ImportValue':
        return this.#resolve(this.#exports.get(String(argument)));
      case 'Fn::Join': {
        const [separator, parts] = argument as [string, unknown[]];
        return parts.map((part) => String(this.#resolve(part))).join(separator);
      }
      case 'Fn::Sub':
        // This case occurs only in names of assets and roles, which the local stack does not use.
        return String(argument);
      default:
        throw new UnknownInTemplate(`the intrinsic ${name}`);
    }
  }

  #ref(id: string): string {
    const { region, account } = this.#place;
    if (id.startsWith('AWS::'))
      return (
        { 'AWS::Region': region, 'AWS::AccountId': account, 'AWS::Partition': 'aws', 'AWS::StackName': 'local' }[id] ??
        id
      );
    if (this.#resources.get(id)?.Type === 'AWS::SQS::Queue') return this.urlOf({ name: this.#nameOf(id) });
    return this.#resources.has(id) ? this.#nameOf(id) : id;
  }

  #attribute(id: string, attribute: string): string {
    const { Type } = this.#resource(id);
    const name = this.#nameOf(id);
    if (attribute === 'QueueName') return name;
    if (attribute !== 'Arn') return `${name}.${attribute}`;
    const service = Type.split('::')[1]?.toLowerCase() ?? '';
    return `arn:aws:${service}:${this.#place.region}:${this.#place.account}:${name}`;
  }
}

/** The name at the end of a local ARN. */
export const nameInArn = (arn: unknown): string => String(arn).split(':').at(-1) ?? '';
