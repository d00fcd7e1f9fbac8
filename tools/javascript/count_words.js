'use strict'

// Is an example: counts the words of a text, or of a file it was lent.

const fs = require('node:fs/promises')
const { command, run, Result, ToolError } = require('./remit_tool.js')

command('count', ({ text }) => {
  const words = text.split(/\s+/).filter(Boolean)
  return { words: words.length, longest: words.reduce((a, b) => (b.length > a.length ? b : a), '') }
})

command('count_file', async ({ path }) => {
  const text = await fs.readFile(path, 'utf8').catch((error) => {
    throw new ToolError('CANNOT_READ', `${path} cannot be read: ${error.code}`)
  })
  return new Result({ words: text.split(/\s+/).filter(Boolean).length }, { message: `${text.length} characters` })
})

command('count_slowly', async ({ steps }, call) => {
  for (let step = 0; step < steps; step++) {
    call.progress(step / steps, `step ${step + 1}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { steps }
})

run()
