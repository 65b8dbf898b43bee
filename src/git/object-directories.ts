/** The form of GIT_ALTERNATE_OBJECT_DIRECTORIES: names are quoted, since `:` separates them. */
export const objectDirectories = (...paths: readonly string[]): string =>
  paths.map((path) => `"${path.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`).join(':')
