/** Rules for an instance with a key, a prefix, tags, a permissions boundary or a VPC. */
import { functionsOf, queuesOf, type Statement, statementsOfRole } from './flow.ts';
import { at, differing, idOf, listOf, ofType, type Rule, type Template } from './template.ts';

const SEND = ['kms:Decrypt', 'kms:GenerateDataKey'];
const READ_TABLE = ['kms:Decrypt', 'kms:DescribeKey'];
const WRITE_TABLE = [
  ...READ_TABLE,
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Tables, queues and logs. @param key its logical id. */
export const everythingIsEncryptedWith =
  (key: string): Rule =>
  (template) => {
    const arn = { 'Fn::GetAtt': [key, 'Arn'] };
    return [
      ...ofType(template, 'AWS::DynamoDB::Table').flatMap(([id, properties]) =>
        differing(id, properties, {
          SSESpecification: { KMSMasterKeyId: arn, SSEEnabled: true, SSEType: 'KMS' },
        }),
      ),
      ...queuesOf(template).flatMap(([id, properties]) => [
        ...differing(id, properties, { KmsMasterKeyId: arn, SqsManagedSseEnabled: undefined }),
        // Each KMS request is paid for: SQS's default of five minutes costs twelve times as much as an hour.
        ...(Number(properties.KmsDataKeyReusePeriodSeconds) >= 3_600 ? [] : [`${id}: calls KMS too often`]),
      ]),
      ...ofType(template, 'AWS::Logs::LogGroup').flatMap(([id, properties]) =>
        differing(id, properties, { KmsKeyId: arn }),
      ),
    ];
  };

/** The key actions that a role's statements on tables and queues need, by service. */
const neededBy = (statements: readonly Statement[]): Map<string, Set<string>> => {
  const needed = new Map([
    ['dynamodb', new Set<string>()],
    ['sqs', new Set<string>()],
  ]);
  for (const action of statements.flatMap(({ Action }) => listOf(Action))) {
    const [service = '', name = ''] = action.split(':');
    for (const use of usesOf(service, name)) needed.get(service)?.add(use);
  }
  return needed;
};

const usesOf = (service: string, action: string): string[] => {
  if (service === 'dynamodb')
    return ['GetItem', 'BatchGetItem', 'Query', 'Scan'].includes(action) ? READ_TABLE : WRITE_TABLE;
  if (service === 'sqs') return action === 'SendMessage' ? SEND : action === 'ReceiveMessage' ? ['kms:Decrypt'] : [];
  return [];
};

/** The service through which a statement lets a key be used; empty if it does not restrict that. */
const viaOf = ({ Condition }: Statement): string =>
  /"(\w+)\.",\{"Ref":"AWS::Region"\}/.exec(
    JSON.stringify(at((Condition ?? {}) as object, 'StringEquals.kms:ViaService')) ?? '',
  )?.[1] ?? '';

/** Every role uses the key through the services that it uses, for its actions there, and in no other way. */
export const rolesUseTheKeyForWhatTheyDo =
  (key: string): Rule =>
  (template) =>
    functionsOf(template).flatMap(([id, { Role }]) => {
      const statements = statementsOfRole(template, idOf(Role));
      const uses = statements.filter(({ Action }) => listOf(Action).some((action) => action.startsWith('kms:')));
      const given = new Map<string, Set<string>>();
      for (const use of uses)
        for (const action of listOf(use.Action))
          given.set(viaOf(use), (given.get(viaOf(use)) ?? new Set()).add(action));
      const other = uses.filter(({ Resource }) => idOf(Resource) !== key);
      const wanted = printed(neededBy(statements));
      return [
        ...(other.length > 0 ? [`${id}: may use another key`] : []),
        ...(printed(given) === wanted ? [] : [`${id}: may use the key for ${printed(given)}, and needs ${wanted}`]),
      ];
    });

const printed = (uses: ReadonlyMap<string, ReadonlySet<string>>): string =>
  [...uses]
    .filter(([, actions]) => actions.size > 0)
    .map(([service, actions]) => `${service}: ${[...actions].toSorted().join(' ')}`)
    .toSorted()
    .join('; ');

/** Every function is in the given subnets and security groups. */
export const functionsAreIn =
  (subnets: readonly unknown[], groups: readonly unknown[]): Rule =>
  (template) =>
    functionsOf(template).flatMap(([id, properties]) =>
      differing(id, properties, { VpcConfig: { SecurityGroupIds: groups, SubnetIds: subnets } }),
    );

export const rolesHaveTheBoundary =
  (arn: unknown): Rule =>
  (template) =>
    ofType(template, 'AWS::IAM::Role').flatMap(([id, properties]) =>
      differing(id, properties, { PermissionsBoundary: arn }),
    );

const TAGGED = [
  'AWS::DynamoDB::Table',
  'AWS::SQS::Queue',
  'AWS::Lambda::Function',
  'AWS::IAM::Role',
  'AWS::Logs::LogGroup',
  'AWS::EC2::SecurityGroup',
];

export const everythingIsTagged =
  (Key: string, Value: string): Rule =>
  (template) =>
    TAGGED.flatMap((type) =>
      ofType(template, type).flatMap(([id, { Tags }]) =>
        JSON.stringify(Tags ?? []).includes(JSON.stringify({ Key, Value })) ? [] : [`${id}: has no tag ${Key}`],
      ),
    );

const NAMES = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::Lambda::Function': 'FunctionName',
};

/** The names of tables, queues and functions, by their types. */
export const namesIn = (template: Template): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(NAMES).map(([type, property]) => [
      type,
      ofType(template, type).map(([, properties]) => properties[property]),
    ]),
  );
