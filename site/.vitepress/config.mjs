// The site is a view of docs/: build.mjs says in SITE where the pages of a version are and where the site goes.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { slug } from 'github-slugger'
import { addressOf, base, chapters, isRemote, kind, pageOf, read, repository, root, rulesOf, sourceOf, titleOf } from '../tree.mjs'
import { addresses } from '../playground.mjs'
import { licences } from '../licences.mjs'

const { tree, pages, out, version, versions } = JSON.parse(process.env.SITE)

// The playground is built apart from the site, at its root, and is linked when it is there. It is that of the newest version.
const hasPlayground = !version.folder && kind(root, 'playground/dist/index.html') === 'file'
const texts = ['README.md', ...chapters(tree).flatMap(chapter => chapter.pages)].map(path => read(tree, path))
const tries = hasPlayground ? await addresses(tree, texts) : new Map()

const top = base + (version.folder && version.folder + '/')

// Browsers refuse every other host. Frames are the playground's.
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
].join('; ')

// links has the links of a page lead where they lead in the repository, and blocks without a language look like the others.
function links(markdown) {
  markdown.core.ruler.push('links', state => {
    state.tokens = state.tokens.flatMap(token => (token.type === 'code_block' ? blockOf(token, state.Token) : token))
    for (const token of state.tokens) {
      for (const child of token.children ?? []) {
        if (child.type === 'code_inline') child.attrSet('v-pre', '') // {{ }} is nothing to evaluate
        const href = child.type === 'link_open' && child.attrGet('href')
        if (href && !isRemote(href) && child.attrGet('class') !== 'header-anchor')
          child.attrSet('href', addressOf(tree, version.name, sourceOf(state.env.relativePath), href))
      }
    }
  })
}

// blockOf returns an indented block as a fenced one, and a link to the playground when that can show what the block shows.
function blockOf(token, Token) {
  const block = Object.assign(token, { type: 'fence', tag: 'code', info: languageOf(token.content), markup: '```' })
  const command = token.content.match(/^\$ (.*)$/m)?.[1]
  if (!tries.has(command)) return block
  const link = `<p class="playground"><a href="${tries.get(command)}" target="_self">Try it in the playground</a></p>\n`
  return [block, Object.assign(new Token('html_block', '', 0), { content: link })]
}

const commands = /^(?:[A-Z]+=\S+ )?(?:base64|cosign|for|go|kubectl|make|mkdir|podverdict|printf|time) /

// languageOf says how a block of code without a language is coloured: as a session, commands, or not at all.
function languageOf(code) {
  if (/^\$ /m.test(code)) return 'console'
  return commands.test(code) ? 'sh' : 'txt'
}

// prompts marks the commands of a session, so that they stand out from what was printed.
const prompts = {
  line(node) {
    const text = node.children.map(child => child.children[0].value).join('')
    if (this.options.lang === 'console' && text.startsWith('$ ')) this.addClassToHast(node, 'command')
  },
}

const sidebar = chapters(tree).map(chapter => ({
  text: chapter.title,
  items: chapter.pages.map(path => ({ text: titleOf(tree, path), link: pageOf(path) })),
}))

const groups = [...new Set(rulesOf(tree).map(rule => rule.group))]
const sidebarOfRules = [
  { text: 'Rules', items: [{ text: 'All rules', link: '/rules' }] },
  ...groups.map(group => ({
    text: group,
    collapsed: true,
    items: rulesOf(tree).filter(rule => rule.group === group).map(({ id }) => ({ text: id, link: '/rules/' + id })),
  })),
]

export default defineConfig({
  title: 'podverdict',
  description: 'Says what a failed Pod means for its Kubernetes Job, and why.',
  lang: 'en',
  base: top,
  srcDir: pages,
  outDir: out,
  cleanUrls: true,
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  markdown: { anchor: { slugify: slug }, config: links, codeTransformers: [prompts] },
  vite: {
    publicDir: false,
    plugins: [licences()],
    resolve: { alias: { '@docsearch/css': fileURLToPath(new URL('theme/style.css', import.meta.url)) } }, // of a search that is not used
  },
  themeConfig: {
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Rules', link: '/rules', activeMatch: '^/rules' },
      ...(hasPlayground ? [{ text: 'Playground', link: '/playground/', target: '_self' }] : []),
      { component: 'VersionSwitch' },
    ],
    sidebar: { '/': sidebar, '/rules/': sidebarOfRules },
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    notFound: { quote: 'Perhaps it has moved: search for it.', linkText: 'To the first page', linkLabel: 'To the first page' },
    version: version.name,
    versions: versions.map(({ name, folder }) => ({ name, address: base + (folder && folder + '/') })),
  },
})
