// Which commands of the documentation the playground can show, and by which address.
import { readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import { encode } from '../playground/src/share.js'
import { base, kind, read } from './tree.mjs'

const panes = { eval: 'matrix', explain: 'why', compile: 'cel', check: 'check', diff: 'diff', simulate: 'life' }

// stateOf returns what the playground starts with to show a command of a session, or undefined when it cannot: a command of another
// verb, with other flags, or without files of examples/.
export function stateOf(tree, command) {
  const [, verb, text = ''] = command.match(/podverdict (\w+) ?(.*)$/) ?? []
  const state = { input: '', pinned: '', script: '', names: '', now: '', kubernetes: '', pane: panes[verb] }
  const names = []
  const files = []
  const words = text.split(' ')
  for (let word = words.shift(); word; word = words.shift()) {
    if (word === '-f') files.push(words.shift())
    else if (word === '--now') state.now = words.shift()
    else if (word === '--kubernetes') state.kubernetes = words.shift()
    else if (word === '--script') state.script = textOf(tree, words.shift())
    else if (word.startsWith('-')) return
    else if (word.startsWith('examples/')) files.push(word)
    else names.push(word)
  }
  const texts = files.map(file => textOf(tree, file))
  if (!state.pane || !texts.length || texts.includes('')) return
  if (verb === 'diff') state.pinned = texts.shift()
  return { ...state, input: texts.join('---\n'), names: names.join(' ') }
}

// textOf returns a file, or the files of a folder but for suites, as one stream.
function textOf(tree, path = '') {
  if (!path.startsWith('examples/') || !kind(tree, path)) return ''
  if (kind(tree, path) === 'file') return read(tree, path)
  const names = readdirSync(join(tree, path)).filter(name => name.endsWith('.yaml') && !name.endsWith('_test.yaml'))
  return names.sort().map(name => read(tree, posix.join(path, name))).join('---\n')
}

// addresses returns the playground's address for each command of texts that it can show.
export async function addresses(tree, texts) {
  const found = new Map()
  for (const [, command] of texts.join('\n').matchAll(/^ {4}\$ (.*)$/gm)) {
    const state = stateOf(tree, command)
    if (state) found.set(command, `${base}playground/#${await encode(state)}`)
  }
  return found
}
