/** Percent-encoding of texts, as in URLs and in the values of Targets. */

/** The decoded text. Undefined if a percent sign encodes nothing. */
export const percentDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    if (cause instanceof URIError) return undefined;
    throw cause;
  }
};
