/** Prints the names of the images and the folders of their contents as shell variables, for `.ci/containers`. */
import { dynamoDBLocalCommand } from '../../../tools/local/dynamodb-local.ts';
import { DYNAMODB_IMAGE, LOCALSTACK_IMAGE } from './containers.ts';
import { localStackEnvironment, localStackProblem } from './localstack.ts';

const say = (variables: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(variables)) console.log(`${name}='${value.replaceAll("'", "'\\''")}'`);
};

say({ dynamodb_image: DYNAMODB_IMAGE, dynamodb_folder: (await dynamoDBLocalCommand()).cwd });
const problem = await localStackProblem();
if (problem) console.error(`the image of LocalStack is left out: ${problem}`);
else say({ localstack_image: LOCALSTACK_IMAGE, localstack_folder: await localStackEnvironment() });
