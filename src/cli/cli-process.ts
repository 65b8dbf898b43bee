/** The parts of the process that the command line uses. */
export interface CliProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly argv: readonly string[]
  readonly cwd: () => string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}
