import { runCli } from './main.ts'

// A reader that has had enough (`galley log | head`) closes the pipe; that is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`galley: io-error: the output could not be written (${error.code})\n`)
    process.exit(1)
  })
}

process.exitCode = await runCli(process.argv.slice(2), process)
