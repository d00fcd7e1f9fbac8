'use strict'

// Write a Remit tool in JavaScript: one function a command.
//
//     const { command, run, ToolError } = require('./remit_tool.js')
//
//     command('greet', async (parameters, call) => {
//       if (!parameters.name) throw new ToolError('NO_NAME', 'say whom to greet')
//       return { greeting: 'Hello, ' + parameters.name }
//     })
//
//     run()
//
// A function gets the parameters, checked against the manifest, and the call: `call.settings`, `call.id`,
// `call.timeout` in seconds, and `call.progress(fraction, message)`. What it returns, or promises, is the
// result; `new Result(value, { message, data, partial })` adds to it. It needs nothing but Node, and the
// contract it speaks is docs/workers.md. Copy this file beside your tool. A service needs nothing more:
// calls that wait for something do not keep others waiting.

const commands = new Map()

/** Is an error for the model and the person: a code in upper case, and what to do differently. */
class ToolError extends Error {
  constructor (code, message) {
    super(message)
    this.code = code
  }
}

/** Is a result with more to it: a sentence for the model, bytes, or that some of it is missing. */
class Result {
  constructor (value, { message, data, partial } = {}) {
    this.fields = { result: value ?? null, message, partial: partial || undefined }
    if (data !== undefined) this.fields.base64 = Buffer.from(data).toString('base64')
  }
}

/** Registers a function as a command. */
function command (name, handler) {
  commands.set(name, handler)
}

/** Serves requests until standard input ends. */
function run () {
  // What the tool prints must not get between the answers.
  const answer = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const write = (line) => answer(line + '\n')
  let open = 0
  let ended = false
  let rest = []
  const finish = () => { if (ended && open === 0) process.exit(0) }

  const take = (text) => {
    const request = JSON.parse(text)
    if (request.ping) return write(JSON.stringify({ id: request.id, pong: true }))
    open += 1
    serve(request, write).then(write).finally(() => { open -= 1; finish() })
  }
  process.stdin.on('data', (chunk) => {
    let start = 0
    for (let at; (at = chunk.indexOf(10, start)) >= 0; start = at + 1) {
      rest.push(chunk.subarray(start, at))
      const line = rest.length === 1 ? rest[0] : Buffer.concat(rest)
      rest = []
      take(line.toString('utf8'))
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  })
  process.stdin.on('end', () => { ended = true; finish() })
}

async function serve (request, write) {
  const { id, context = {} } = request
  try {
    const handler = commands.get(request.command)
    if (!handler) throw new ToolError('UNKNOWN_COMMAND', 'this tool has no command ' + request.command)
    const call = {
      id: context.call_id,
      timeout: (context.timeout_ms ?? 0) / 1000,
      settings: request.settings ?? {},
      progress (fraction, message) {
        const bounded = Math.min(Math.max(Number(fraction) || 0, 0), 1)
        write(JSON.stringify({ id, progress: { fraction: bounded, message } }))
      }
    }
    const got = await handler(request.parameters ?? {}, call)
    const fields = got instanceof Result ? got.fields : { result: got ?? null }
    return JSON.stringify({ id, ...fields })
  } catch (error) {
    const known = error instanceof ToolError
    if (!known) console.error(error)
    const said = known ? { code: error.code, message: error.message } : { code: 'TOOL_FAILED', message: String(error) }
    return JSON.stringify({ id, error: said })
  }
}

module.exports = { command, run, Result, ToolError }
