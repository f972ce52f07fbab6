/** Which release of Groupage this is: the version in `package.json`, for code that is bundled without that file. */
export const RELEASE = '0.2.0';
