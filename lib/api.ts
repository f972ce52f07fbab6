/**
 * How callers reach the HTTP API: by a function URL, or through API Gateway where function URLs do not exist or are not
 * private enough. Each way requires IAM.
 */
import { Aws, Stack } from 'aws-cdk-lib';
import { AuthorizationType, EndpointType, LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, Grant, type IGrantable, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type FunctionUrl, FunctionUrlAuthType, type Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { InvalidProps } from './invalid-props.ts';

/** An API that is reachable only through VPC endpoints. */
export interface PrivateApi {
  /** Interface endpoints for `execute-api`, in any VPC. At least one. */
  readonly vpcEndpoints: readonly IVpcEndpoint[];
}

/** How callers reach the API. */
export type ApiOption = 'function-url' | 'http-api' | PrivateApi;

/** The API as callers see it. */
export interface Api {
  /** Its address without the version. It ends with a slash. */
  readonly url: string;
  /** Lets a caller of this account call all of the API. */
  readonly grantInvoke: (caller: IGrantable) => Grant;
  /** Defined for `function-url`. */
  readonly functionUrl?: FunctionUrl;
  /** Defined for `http-api`. */
  readonly httpApi?: HttpApi;
  /** Defined for an API behind VPC endpoints. */
  readonly restApi?: RestApi;
}

export interface ApiProps {
  readonly option: ApiOption;
  readonly function: Lambda;
  /** The name of the instance. */
  readonly service: string;
}

/** @throws InvalidProps */
export const apiOf = (scope: Construct, { option, function: handler, service }: ApiProps): Api => {
  if (option === 'function-url') return byFunctionUrl(handler);
  const common = { handler, name: service, description: 'Groupage: the HTTP API' };
  return option === 'http-api' ? byHttpApi(scope, common) : byRestApi(scope, option, common);
};

interface Gateway {
  readonly handler: Lambda;
  readonly name: string;
  readonly description: string;
}

const byFunctionUrl = (handler: Lambda): Api => {
  const functionUrl = handler.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
  return { url: functionUrl.url, grantInvoke: (caller) => functionUrl.grantInvokeUrl(caller), functionUrl };
};

/** A regional API with one route for all requests. Its events have the format of a function URL's events. */
const byHttpApi = (scope: Construct, { handler, name, description }: Gateway): Api => {
  const httpApi = new HttpApi(scope, 'HttpApi', {
    apiName: name,
    description,
    defaultIntegration: new HttpLambdaIntegration('Function', handler),
    defaultAuthorizer: new HttpIamAuthorizer(),
  });
  acknowledge(httpApi, 'AwsSolutions-APIG1', NO_ACCESS_LOG);
  return { url: urlOf(scope, httpApi.apiId), grantInvoke: invoking(httpApi, httpApi.apiId), httpApi };
};

/** The name of the stage is the first part of each path, so it is the version of the API. */
const STAGE = 'v1';

/** HTTP APIs cannot be private. */
const byRestApi = (scope: Construct, { vpcEndpoints }: PrivateApi, { handler, name, description }: Gateway): Api => {
  const [first] = vpcEndpoints;
  if (!first)
    throw new InvalidProps(
      scope,
      'api.vpcEndpoints must have at least one endpoint: otherwise no caller reaches the API',
    );
  const restApi = new RestApi(scope, 'PrivateApi', {
    restApiName: name,
    description,
    endpointConfiguration: { types: [EndpointType.PRIVATE], vpcEndpoints: [...vpcEndpoints] },
    policy: onlyThrough(vpcEndpoints),
    deployOptions: { stageName: STAGE },
    // It would be the role of the whole region of the account.
    cloudWatchRole: false,
  });
  // An output that the stack has already.
  restApi.node.tryRemoveChild('Endpoint');
  // `addProxy` would add a method without authorization to the root too.
  const integration = new LambdaIntegration(handler, { allowTestInvoke: false });
  restApi.root.addResource('{proxy+}').addMethod('ANY', integration, { authorizationType: AuthorizationType.IAM });
  for (const [rule, reason] of Object.entries(OF_REST_APIS)) acknowledge(restApi, rule, reason);
  return {
    // This name leads to the endpoint, also without its private DNS and from networks beside its VPC.
    url: urlOf(scope, `${restApi.restApiId}-${first.vpcEndpointId}`),
    grantInvoke: invoking(restApi, restApi.restApiId),
    restApi,
  };
};

/**
 * Denies requests that do not come through the endpoints. The policy allows nothing: within an account, an allowed
 * principal would need no further permission.
 */
const onlyThrough = (endpoints: readonly IVpcEndpoint[]): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: ['execute-api:/*'],
        conditions: { StringNotEquals: { 'aws:SourceVpce': endpoints.map(({ vpcEndpointId }) => vpcEndpointId) } },
      }),
    ],
  });

const urlOf = (scope: Construct, name: string): string =>
  `https://${name}.execute-api.${Stack.of(scope).region}.${Stack.of(scope).urlSuffix}/`;

const invoking =
  (scope: Construct, id: string) =>
  (grantee: IGrantable): Grant =>
    Grant.addToPrincipal({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: [`arn:${Aws.PARTITION}:execute-api:${Stack.of(scope).region}:${Stack.of(scope).account}:${id}/*`],
    });

const NO_ACCESS_LOG =
  'CloudWatch charges for access logs. Errors are in the log of the function, and the user can add access logs to the stage.';
const OF_REST_APIS = {
  'AwsSolutions-APIG1': NO_ACCESS_LOG,
  'AwsSolutions-APIG2': 'The function validates each request by the schemas of its OpenAPI document.',
  'AwsSolutions-APIG3': 'Only signed requests through the given VPC endpoints are accepted, none from the internet.',
  'AwsSolutions-APIG6': 'Execution logs need a role for the whole region of the account, which belongs to the user.',
  'AwsSolutions-COG4': 'Callers are authorized by IAM.',
};
