import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The icons of links to other sites are written into a style sheet, apart from the bundle.
const icons = join(import.meta.dirname, 'node_modules/@iconify-json/simple-icons')

// licences returns a plugin of the bundler that writes licences.txt: the packages whose code the site has, and their licences.
export function licences() {
  let server = false
  return {
    name: 'licences',
    configResolved: config => void (server = Boolean(config.build.ssr)),
    generateBundle(_, bundle) {
      if (server) return
      const modules = Object.values(bundle).flatMap(chunk => Object.keys(chunk.modules ?? {}))
      const folders = new Set(modules.map(id => id.match(/^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean))
      folders.add(icons)
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: [...folders].sort().map(licenceOf).join('\n') })
    },
  }
}

// licenceOf returns the name, version and licence of the package in a folder.
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(file => /^licen[cs]e/i.test(file))
  if (!file && license !== 'CC0-1.0') throw new Error(`${name} has no licence file`)
  return `${name} ${version}: ${license}\n${file ? '\n' + readFileSync(join(folder, file), 'utf8').trim() + '\n' : ''}`
}
