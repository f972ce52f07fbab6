/**
 * Reads a whole number of the command line. An invalid one ends the process with a message. @param least the smallest
 * valid number
 */
export const wholeNumber = (name: string, text: string, least = 0): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  console.error(`--${name} takes a whole number from ${least}, not ${JSON.stringify(text)}`);
  process.exit(2);
};
