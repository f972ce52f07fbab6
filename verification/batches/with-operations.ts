import type { Config, Operation } from '../../src/domain/config/resolved.ts';

/** The same configuration with each of its operations altered. @param change answers what is another then. */
export const withOperations = (config: Config, change: (operation: Operation) => Partial<Operation>): Config => ({
  ...config,
  operations: Object.fromEntries(
    Object.entries(config.operations).map(([name, operation]) => [name, { ...operation, ...change(operation) }]),
  ),
});
