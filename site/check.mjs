// Checks every link and anchor of the built site, of Markdown files, and of files that name a page of either, without the network.
// Prints what is broken, and exits with 1 when something is.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Parser } from 'htmlparser2'
import { base, git, headings, host, isRemote, kind, links, locate, read, repository, root, rulesOf } from './tree.mjs'

const loading = { script: ['src'], img: ['src'], link: ['href'], iframe: ['src'], source: ['src'] }

// parse returns the anchors of a page and its references; one that a browser follows by itself is loaded.
function parse(html) {
  const page = { anchors: new Set(), references: [], policy: false }
  const onopentag = (tag, attributes) => {
    if (attributes.id) page.anchors.add(attributes.id)
    if (attributes['http-equiv'] === 'Content-Security-Policy') page.policy = attributes.content.startsWith("default-src 'self'")
    for (const name of ['href', 'src'])
      if (name in attributes) page.references.push({ link: attributes[name], loaded: loading[tag]?.includes(name) ?? false })
  }
  const parser = new Parser({ onopentag })
  parser.end(html)
  return page
}

// siteChecker returns what says why an address of a built site is broken, or undefined when it is not.
function siteChecker(dist) {
  const pages = new Map()
  const pageAt = path => {
    if (!pages.has(path)) pages.set(path, parse(read(dist, path)))
    return pages.get(path)
  }
  return {
    pageAt,
    broken(path, anchor) {
      const file = [path, path + '.html', join(path, 'index.html')].find(name => kind(dist, name) === 'file')
      if (file === undefined) return 'the site has no such page'
      if (anchor && !path.startsWith('playground/') && !pageAt(file).anchors.has(anchor)) return 'the page has no such anchor'
    },
  }
}

const anchorsOf = new Map()

// brokenInTree says why a path of the repository is broken, or undefined.
function brokenInTree(tree, path, anchor) {
  if (!kind(tree, path)) return 'the repository has no such file'
  if (!anchor || !path.endsWith('.md')) return
  const file = join(tree, path)
  if (!anchorsOf.has(file)) anchorsOf.set(file, new Set(headings(read(tree, path)).map(heading => heading.anchor)))
  if (!anchorsOf.get(file).has(anchor)) return 'the file has no such heading'
}

// brokenAddress says why an address of the site or of the repository is broken. Those of others are not looked up.
function brokenAddress(tree, site, address) {
  const [path, anchor = ''] = address.split('#')
  if (path.startsWith(host)) return site.broken(path.slice((host + base).length), anchor)
  const inRepository = path.match(new RegExp(`^${repository}/(?:blob|tree|edit)/[^/]+/(.+)$`))
  if (inRepository) return brokenInTree(tree, inRepository[1], anchor)
}

function brokenReference(tree, site, file, { link, loaded }) {
  if (link.startsWith('data:')) return
  if (isRemote(link)) return loaded ? 'the page loads from another host' : brokenAddress(tree, site, link)
  const [path, anchor = ''] = link.split('#')
  if (path === '') return site.broken(file, anchor)
  return path.startsWith(base) ? site.broken(path.slice(base.length) || 'index.html', anchor) : 'the link leaves the site'
}

// checkSite looks at each page of a site.
function* checkSite(tree, dist, site) {
  for (const file of readdirSync(dist, { recursive: true }).filter(name => name.endsWith('.html') && !name.startsWith('playground/'))) {
    const { references, policy } = site.pageAt(file)
    if (!policy) yield { file, problem: 'the page has no Content-Security-Policy' }
    for (const reference of references) yield { file, link: reference.link, problem: brokenReference(tree, site, file, reference) }
  }
  for (const { id } of rulesOf(tree)) yield { file: 'docs/rules.md', link: `/rules/${id}`, problem: site.broken(`rules/${id}`) }
}

// checkTree looks at the links of each Markdown file, and at addresses of the site and of the repository in all files but tests.
function* checkTree(tree, site, files) {
  const own = new RegExp(`(?:${repository}/(?:blob|tree)/main|${host}${base}?)[^\\s"'\`)>\\]|]*`, 'g')
  for (const file of files.filter(file => !/_test\.go$|(^|\/)testdata\/|^site\//.test(file) && kind(tree, file) === 'file')) {
    const text = read(tree, file)
    for (const [link] of text.matchAll(own)) yield { file, link, problem: brokenAddress(tree, site, link) }
    if (!file.endsWith('.md')) continue
    for (const { href, line } of links(text).filter(({ href }) => !isRemote(href))) {
      const { path, anchor } = locate(file, href)
      yield { file: `${file}:${line}`, link: href, problem: brokenInTree(tree, path, anchor) }
    }
  }
}

// check returns how many links were looked at, and those that are broken.
export function check(tree, dist, files) {
  const site = siteChecker(dist)
  const all = [...checkSite(tree, dist, site), ...checkTree(tree, site, files)]
  return { count: all.length, broken: all.filter(({ problem }) => problem !== undefined) }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { count, broken } = check(root, join(root, 'site/dist'), git('ls-files', '-co', '--exclude-standard'))
  for (const { file, link, problem } of broken) console.error(`${file}: ${link ?? ''}: ${problem}`)
  console.log(`${count} links, ${broken.length} broken`)
  process.exitCode = broken.length ? 1 : 0
}
