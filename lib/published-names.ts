/**
 * The names of a stack's resources, for a stack that is deployed after it. The names are in a parameter of Systems
 * Manager, and CloudFormation reads the parameter at each deployment of the other stack. So the other stack gets the
 * name of a replaced resource even if its own template is unchanged, and it does not prevent the replacement.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/systems-manager-parameter-types.html
 */
import { Fn, Stack } from 'aws-cdk-lib';
import { StringListParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';

export class PublishedNames extends Construct {
  readonly #parameterName: string;
  readonly #names: readonly string[];

  /**
   * The stack must have a name that is known at synthesis, because the name of the parameter contains it.
   *
   * @param names references to the names. All together have at most 4 KB.
   */
  constructor(scope: Construct, id: string, names: readonly string[]) {
    super(scope, id);
    this.#names = names;
    this.#parameterName = `/${Stack.of(this).stackName}/names`;
    new StringListParameter(this, 'Parameter', {
      parameterName: this.#parameterName,
      stringListValue: [...names],
      description: 'Names of queues, functions and tables, for the stack with their alarms',
    });
  }

  /** How the stack of `scope`, which is deployed later, refers to each of the names. */
  readIn(scope: Construct): (name: string) => string {
    Stack.of(scope).addStackDependency(Stack.of(this), 'it reads the names of resources');
    const published = StringListParameter.valueForTypedListParameter(scope, this.#parameterName);
    return (name) => {
      const index = this.#names.indexOf(name);
      if (index < 0) throw new Error(`${this.node.path} does not have the name ${name}`);
      return Fn.select(index, published);
    };
  }
}
