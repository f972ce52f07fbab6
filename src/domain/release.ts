/** The release of Groupage: the version in `package.json`, for code that is bundled without that file. */
export const RELEASE = '0.2.0';
