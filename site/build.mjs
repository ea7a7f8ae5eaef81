// Builds the site into site/dist: of the tree as it is, or with --releases of the newest patch of each minor release, the newest
// at the root and each other one in a folder vMAJOR.MINOR.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { base, chapters, git, kind, pageOf, read, root, rulesOf } from './tree.mjs'
import { minors } from './versions.mjs'

const site = join(root, 'site')
const work = join(site, '.pages')
const dist = join(site, 'dist')

// stage writes the pages of a tree, as the generator reads them.
function stage(tree, pages) {
  const write = (path, text) => {
    mkdirSync(dirname(join(pages, path)), { recursive: true })
    writeFileSync(join(pages, path), text)
  }
  for (const path of ['README.md', ...git('-C', tree, 'ls-files', '-co', '--exclude-standard', 'docs')]) {
    const page = pageOf(path)
    if (page !== undefined) write(page.replace(/\/$/, '/index') + '.md', path === 'docs/rules.md' ? tables(tree) : read(tree, path))
  }
  for (const { id, text } of rulesOf(tree)) write(`rules/${id}.md`, `# ${id}\n${text}`)
}

// tables returns docs/rules.md without the rules, which have pages of their own.
function tables(tree) {
  const lines = read(tree, 'docs/rules.md').split('\n')
  for (const { line, text } of rulesOf(tree).reverse()) lines.splice(line, text.split('\n').length + 1)
  return lines.join('\n')
}

// checkChapters refuses documentation that nobody finds.
function checkChapters(tree) {
  const listed = chapters(tree).flatMap(chapter => chapter.pages)
  const missing = git('ls-files', '-co', '--exclude-standard', 'docs/*.md').filter(path => path !== 'docs/README.md' && !listed.includes(path))
  if (missing.length) throw new Error(`docs/README.md links no page of: ${missing.join(', ')}`)
}

// checkout returns a folder with the files of a tag.
function checkout(tag) {
  const tree = join(work, tag, 'tree')
  git('worktree', 'prune')
  git('worktree', 'add', '--quiet', '--detach', tree, tag)
  return tree
}

function build(version, versions) {
  const { name, folder } = version
  const tree = version.tag ? checkout(name) : root
  const pages = join(work, name, 'pages')
  if (!version.tag) checkChapters(tree)
  stage(tree, pages)
  execFileSync(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build', site], {
    stdio: 'inherit',
    env: { ...process.env, SITE: JSON.stringify({ tree, pages, out: join(dist, folder), version, versions }) },
  })
  if (version.tag) git('worktree', 'remove', '--force', tree)
}

const versions = process.argv.includes('--releases') ? minors(git('tag', '--list')) : []
if (!versions.length) versions.push({ name: 'main', folder: '' })
rmSync(work, { recursive: true, force: true })
rmSync(dist, { recursive: true, force: true })
for (const version of versions) build(version, versions)
if (kind(root, 'playground/dist') === 'folder') cpSync(join(root, 'playground/dist'), join(dist, 'playground'), { recursive: true })
console.log(`site/dist is the site below ${base}: ${versions.map(version => version.name).join(', ')}`)
