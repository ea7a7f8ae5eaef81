// What the site makes of the repository's tree: which file is which page, where a link in a file leads, which anchors a file has.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { slug } from 'github-slugger'
import MarkdownIt from 'markdown-it'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const repository = 'https://github.com/podverdict/podverdict'
export const host = 'https://podverdict.github.io'
export const base = '/podverdict/'

const markdown = new MarkdownIt({ html: true })

// git returns the lines that a git command prints in the repository.
export function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n').filter(Boolean)
}

// read returns a file of a folder, by a path that has slashes.
export const read = (folder, path) => readFileSync(join(folder, path), 'utf8')

// kind says what a path of a folder is: 'file', 'folder' or '' for nothing.
export function kind(folder, path) {
  const stat = statSync(join(folder, path), { throwIfNoEntry: false })
  return stat === undefined ? '' : stat.isDirectory() ? 'folder' : 'file'
}

// The addresses of files that do not have the name of their page. Every other file docs/NAME.md is the page /NAME.
const named = { 'README.md': '/', 'docs/README.md': '/documentation' }

// pageOf returns the address of the page that a file is, or undefined: most files are no page.
export function pageOf(path) {
  return named[path] ?? path.match(/^docs\/([^/]+)\.md$/)?.[1].replace(/^/, '/')
}

// sourceOf returns the file that a page of the generator was made of. Pages of rules are parts of docs/rules.md.
export function sourceOf(page) {
  const address = '/' + page.replace(/(index)?\.md$/, '')
  if (address.startsWith('/rules/')) return 'docs/rules.md'
  return Object.keys(named).find(path => named[path] === address) ?? 'docs' + address + '.md'
}

// isRemote says that a link names its host or scheme.
export const isRemote = link => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(link)

// locate returns the file and the anchor in it that a relative link of a file names.
export function locate(path, link) {
  const [target, anchor = ''] = link.split('#')
  return { path: target === '' ? path : posix.join(posix.dirname(path), decodeURI(target)).replace(/\/$/, ''), anchor }
}

// addressOf returns where a relative link of a file leads on the site: to a page, or to the repository at a branch or tag.
export function addressOf(folder, ref, from, link) {
  const { path, anchor } = locate(from, link)
  if (path === 'docs/rules.md' && rulesOf(folder).some(rule => rule.id === anchor)) return '/rules/' + anchor
  const fragment = anchor && '#' + anchor
  const page = pageOf(path)
  if (page !== undefined) return (path === from && fragment ? '' : page) + fragment
  return `${repository}/${kind(folder, path) === 'folder' ? 'tree' : 'blob'}/${ref}/${path}${fragment}`
}

// headings returns level, text, anchor as GitHub makes it, and line of every heading of a file.
export function headings(text) {
  const tokens = markdown.parse(text, {})
  const seen = new Map()
  return tokens.flatMap((token, i) => {
    if (token.type !== 'heading_open') return []
    const title = tokens[i + 1].children.map(child => child.content).join('')
    const name = slug(title)
    const times = seen.get(name) ?? 0
    seen.set(name, times + 1)
    return [{ level: Number(token.tag[1]), title, anchor: times ? `${name}-${times}` : name, line: token.map[0] }]
  })
}

// links returns the address and the line of every link and image of a file.
export function links(text) {
  let line = 0
  return markdown.parse(text, {}).flatMap(token => {
    line = token.map?.[0] ?? line // cells of tables have no place of their own
    return (token.children ?? []).flatMap(child => {
      const href = child.attrGet('href') ?? child.attrGet('src')
      return href === null ? [] : [{ href, line: line + 1 }]
    })
  })
}

const rules = new Map()

// rulesOf returns the id, the group and the text of every rule of docs/rules.md.
export function rulesOf(folder) {
  if (!rules.has(folder)) rules.set(folder, splitRules(read(folder, 'docs/rules.md')))
  return rules.get(folder)
}

function splitRules(text) {
  const lines = text.split('\n')
  const found = headings(text)
  let group
  return found.flatMap((heading, i) => {
    if (heading.level === 2) group = heading.title
    if (heading.level !== 3) return []
    return [{ id: heading.title, group, line: heading.line, text: lines.slice(heading.line + 1, found[i + 1]?.line).join('\n') }]
  })
}

// chapters returns the sections of docs/README.md with the pages that they link, in its order.
export function chapters(folder) {
  const text = read(folder, 'docs/README.md')
  const sections = headings(text).filter(heading => heading.level === 2)
  const all = links(text)
  return sections.map((section, i) => ({
    title: section.title,
    pages: all
      .filter(({ line }) => line > section.line && line <= (sections[i + 1]?.line ?? Infinity))
      .map(({ href }) => locate('docs/README.md', href).path)
      .filter(path => pageOf(path) !== undefined),
  }))
}

// titleOf returns the title of a page: its first heading.
export const titleOf = (folder, path) => headings(read(folder, path))[0].title
