/** How callers reach the API: what each option creates, and who may call it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import type { ApiOption } from '../../lib/api.ts';
import { groupageApp } from '../../lib/app.ts';
import { stackNames } from '../../lib/stage.ts';
import { WITHOUT_FUNCTION_URLS } from '../cfn-lint/accepted.ts';
import { aConfig } from '../factories/factories.ts';
import { statementsOfRole } from './rules/flow.ts';
import { ofType, type Template } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { context, noCode } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const endpointIn = (stack: Stack, vpcEndpointId: string) =>
  InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(stack, vpcEndpointId, { vpcEndpointId, port: 443 });
const OPTIONS: Readonly<Record<string, (stack: Stack) => ApiOption>> = {
  'function-url': () => 'function-url',
  'http-api': () => 'http-api',
  private: (stack) => ({ vpcEndpoints: [endpointIn(stack, 'vpce-1'), endpointIn(stack, 'vpce-2')] }),
};

const instanceWith = (option: string, app = new App()) => {
  const stack = new Stack(app, 'TheirStack');
  const groupage = groupageIn(stack, { api: OPTIONS[option]?.(stack) ?? 'function-url' });
  return { stack, groupage };
};

const HANDLER = 'GroupageFlowApiHandlerFunction7C6E3EB9';
const [PARTITION, REGION, ACCOUNT] = ['Partition', 'Region', 'AccountId'].map((name) => ({ Ref: `AWS::${name}` }));
const arnOf = (api: string, ...below: unknown[]) => ({
  'Fn::Join': ['', ['arn:', PARTITION, ':execute-api:', REGION, ':', ACCOUNT, ':', { Ref: api }, ...below]],
});
const mayInvoke = (SourceArn: unknown) => ({
  Action: 'lambda:InvokeFunction',
  FunctionName: { 'Fn::GetAtt': [HANDLER, 'Arn'] },
  Principal: 'apigateway.amazonaws.com',
  SourceArn,
});
const HTTP_API = 'GroupageFlowHttpApiAB1ED865';
const INTEGRATION = 'GroupageFlowHttpApiDefaultRouteFunction8951EF3A';
const REST_API = 'GroupageFlowPrivateApi016610B6';
const RESOURCE = 'GroupageFlowPrivateApiproxyC8807104';
const STAGE = 'GroupageFlowPrivateApiDeploymentStagev1B2859535';

/** What each option creates beside the function, without the ids of the resources. */
const CREATES: Readonly<Record<string, readonly (readonly [type: string, properties: object])[]>> = {
  'function-url': [
    ['AWS::Lambda::Url', { AuthType: 'AWS_IAM', TargetFunctionArn: { 'Fn::GetAtt': [HANDLER, 'Arn'] } }],
  ],
  'http-api': [
    ['AWS::ApiGatewayV2::Api', { Description: 'Groupage: the HTTP API', Name: 'TheirStack', ProtocolType: 'HTTP' }],
    [
      'AWS::ApiGatewayV2::Integration',
      {
        ApiId: { Ref: HTTP_API },
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': [HANDLER, 'Arn'] },
        PayloadFormatVersion: '2.0',
      },
    ],
    ['AWS::Lambda::Permission', mayInvoke(arnOf(HTTP_API, '/*/*'))],
    [
      'AWS::ApiGatewayV2::Route',
      {
        ApiId: { Ref: HTTP_API },
        AuthorizationType: 'AWS_IAM',
        RouteKey: '$default',
        Target: { 'Fn::Join': ['', ['integrations/', { Ref: INTEGRATION }]] },
      },
    ],
    ['AWS::ApiGatewayV2::Stage', { ApiId: { Ref: HTTP_API }, AutoDeploy: true, StageName: '$default' }],
  ],
  private: [
    [
      'AWS::ApiGateway::RestApi',
      {
        Description: 'Groupage: the HTTP API',
        EndpointConfiguration: { Types: ['PRIVATE'], VpcEndpointIds: ['vpce-1', 'vpce-2'] },
        Name: 'TheirStack',
        Policy: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Deny',
              Principal: { AWS: '*' },
              Action: 'execute-api:Invoke',
              Resource: 'execute-api:/*',
              Condition: { StringNotEquals: { 'aws:SourceVpce': ['vpce-1', 'vpce-2'] } },
            },
          ],
        },
      },
    ],
    ['AWS::ApiGateway::Deployment', { Description: 'Groupage: the HTTP API', RestApiId: { Ref: REST_API } }],
    [
      'AWS::ApiGateway::Stage',
      {
        DeploymentId: { Ref: expect.stringMatching(/^GroupageFlowPrivateApiDeployment/) },
        RestApiId: { Ref: REST_API },
        StageName: 'v1',
      },
    ],
    [
      'AWS::ApiGateway::Resource',
      {
        ParentId: { 'Fn::GetAtt': [REST_API, 'RootResourceId'] },
        PathPart: '{proxy+}',
        RestApiId: { Ref: REST_API },
      },
    ],
    ['AWS::Lambda::Permission', mayInvoke(arnOf(REST_API, '/', { Ref: STAGE }, '/*/*'))],
    [
      'AWS::ApiGateway::Method',
      {
        AuthorizationType: 'AWS_IAM',
        HttpMethod: 'ANY',
        Integration: {
          IntegrationHttpMethod: 'POST',
          Type: 'AWS_PROXY',
          Uri: {
            'Fn::Join': [
              '',
              [
                ...['arn:', PARTITION, ':apigateway:', REGION, ':lambda:path/2015-03-31/functions/'],
                ...[{ 'Fn::GetAtt': [HANDLER, 'Arn'] }, '/invocations'],
              ],
            ],
          },
        },
        ResourceId: { Ref: RESOURCE },
        RestApiId: { Ref: REST_API },
      },
    ],
  ],
};

const FRONTS = /^AWS::(?:ApiGateway|ApiGatewayV2|Lambda)::(?!Function|EventSource|EventInvoke)/;
const frontOf = ({ Resources }: Template) =>
  Object.values(Resources).flatMap(({ Type, Properties }) =>
    FRONTS.test(Type) && Properties.Principal !== 'events.amazonaws.com' ? [[Type, Properties] as const] : [],
  );

const at = (host: readonly unknown[]) => ({
  'Fn::Join': [
    '',
    ['https://', ...host, '.execute-api.', REGION, '.', { Ref: 'AWS::URLSuffix' }, '/v1'].reduce(joining, []),
  ],
});
/** Joins neighbouring texts, as CDK does. */
const joining = (parts: unknown[], part: unknown): unknown[] => {
  const last = parts.at(-1);
  return typeof part === 'string' && typeof last === 'string' ? [...parts.slice(0, -1), last + part] : [...parts, part];
};

describe.each(Object.keys(CREATES))('the API with the option %s', (option) => {
  it('has these resources, and no others', () => {
    expect(frontOf(templateOf(instanceWith(option).stack))).toEqual(CREATES[option]);
  });

  it('passes cdk-nag', () => {
    const app = new App();
    instanceWith(option, app);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });

  it('adds the same outputs to the stack', () => {
    expect(Object.keys(templateOf(instanceWith(option).stack).Outputs ?? {})).toEqual([
      'RegisterQueueUrl',
      'RejectedQueueUrl',
      'ApiUrl',
    ]);
  });
});

describe('the API behind API Gateway', () => {
  it.each([
    ['http-api', HTTP_API],
    ['private', REST_API],
  ])('grants to invoke this API only: %s', (option, id) => {
    const { stack, groupage } = instanceWith(option);
    const service = new Role(stack, 'Service', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    expect(groupage.grantApi(service).success).toBe(true);
    expect(statementsOfRole(templateOf(stack), logicalId(service))).toEqual([
      { Effect: 'Allow', Action: 'execute-api:Invoke', Resource: arnOf(id, '/*') },
    ]);
  });

  it('has an address with the version and its first endpoint', () => {
    const [http, rest] = ['http-api', 'private'].map((option) => instanceWith(option));
    expect(http?.stack.resolve(http.groupage.apiUrl)).toEqual(at([{ Ref: HTTP_API }]));
    expect(rest?.stack.resolve(rest.groupage.apiUrl)).toEqual(at([{ Ref: REST_API }, '-vpce-1']));
  });

  it('is a part of the construct, as the function URL is', () => {
    const parts = Object.keys(OPTIONS).map((option) => {
      const { apiUrl, api } = instanceWith(option).groupage.flow;
      return [apiUrl, api.httpApi, api.restApi].map((part) => part !== undefined);
    });
    expect(parts).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  it('is deployed anew if the endpoints of a private API change', () => {
    const deploymentWith = (...ids: string[]) => {
      const stack = theirStack();
      groupageIn(stack, { api: { vpcEndpoints: ids.map((id) => endpointIn(stack, id)) } });
      return ofType(templateOf(stack), 'AWS::ApiGateway::Deployment').map(([id]) => id);
    };
    expect(deploymentWith('vpce-1')).toEqual(deploymentWith('vpce-1'));
    expect(deploymentWith('vpce-1')).not.toEqual(deploymentWith('vpce-2'));
  });

  it('needs an endpoint if it is private', () => {
    expect(() => groupageIn(theirStack(), { api: { vpcEndpoints: [] } })).toThrow(
      /api\.vpcEndpoints must have at least one endpoint/,
    );
  });
});

it('the page lists the regions without function URLs', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/construct.md'), 'utf8');
  const [listed = ''] = /does not exist\s+in ([^.]*)\./.exec(page) ?? [];
  // AWS lists the first; CloudFormation does not know function URLs in the others.
  const missing = ['eu-south-2', ...WITHOUT_FUNCTION_URLS];
  expect((listed.match(/[a-z]+-[a-z-]+-\d/g) ?? []).toSorted()).toEqual(missing.toSorted());
});

describe('the API of our app', () => {
  const frontsOf = (api: string | undefined, flags: Record<string, unknown> = context): string[] => {
    const app = groupageApp({
      config: aConfig(),
      stage: 'dev',
      context: flags,
      builtinCloudFormationValidation: false,
      code: noCode,
      ...(api === undefined ? {} : { api }),
    });
    const template = templateOf(app.node.findChild(stackNames('dev').flow) as Stack);
    return frontOf(template)
      .map(([type]) => type)
      .filter((type) => /::(?:Url|Api|RestApi)$/.test(type));
  };

  it('is chosen by a prop or by the context, and is a function URL otherwise', () => {
    expect(frontsOf(undefined)).toEqual(['AWS::Lambda::Url']);
    expect(frontsOf('http-api')).toEqual(['AWS::ApiGatewayV2::Api']);
    expect(frontsOf(undefined, { ...context, api: 'http-api' })).toEqual(['AWS::ApiGatewayV2::Api']);
    expect(frontsOf('vpce-0123456789abcdef0,vpce-0123abcd')).toEqual(['AWS::ApiGateway::RestApi']);
  });

  it.each(['rest', '', 'vpce-', 'vpce-0123abcd,', 'http-api,vpce-0123abcd'])('is refused as %j', (api) => {
    expect(() => frontsOf(api)).toThrow(/the API is function-url, http-api, or ids of VPC endpoints/);
  });
});
