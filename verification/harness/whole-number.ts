/**
 * Reads a whole number from the command line. If the number is invalid, the process prints a message and exits.
 * @param least the smallest valid number
 */
export const wholeNumber = (name: string, text: string, least = 0): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  console.error(`--${name} takes a whole number from ${least}, not ${JSON.stringify(text)}`);
  process.exit(2);
};
