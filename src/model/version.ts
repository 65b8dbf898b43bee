/** Put in place by the build; not there when the source runs as it is (tests of the parts). */
declare const GALLEY_VERSION: string | undefined

/** The package's version, as package.json has it. */
export const version: string = typeof GALLEY_VERSION === 'string' ? GALLEY_VERSION : '0.0.0-source'
