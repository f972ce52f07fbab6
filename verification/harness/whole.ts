/** Numbers of a command line. */

/** A whole number of a command line, or the end of the command with what is wrong about it. @param least the smallest */
export const whole = (name: string, text: string, least = 0): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  console.error(`--${name} takes a whole number from ${least}, not ${JSON.stringify(text)}`);
  process.exit(2);
};
