/** The CDK app of a run: the stage's stacks, and the stack with the load. `cdk` runs it with the settings of the run. */
import { groupageApp } from '../../../lib/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runOf } from '../run-settings.ts';
import { LoadStack, tagStacks } from './load-stack.ts';

const { stage, config, functionName, loadStack, until, token } = runOf(process.env);
const app = groupageApp({ config: await loadConfig(config), stage });
new LoadStack(app, loadStack, { functionName, token });
tagStacks(app, until);
app.synth();
