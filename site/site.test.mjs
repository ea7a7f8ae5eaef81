import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { check } from './check.mjs'
import { decode } from '../playground/src/share.js'
import { addresses, stateOf } from './playground.mjs'
import { addressOf, headings, host, repository } from './tree.mjs'
import { minors } from './versions.mjs'

const rules = '# Rules\n\n## Input\n\n### unreadable\n\nWhy.\n'

// folder returns a folder with these files, which goes when the test ends.
function folder(t, files) {
  const path = mkdtempSync(join(tmpdir(), 'site-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

const html = body => `<meta http-equiv="Content-Security-Policy" content="default-src 'self'">${body}`

test('what is broken is found, and nothing else', t => {
  const page = {
    '<a href="/podverdict/install">': '',
    '<a href="/podverdict/">': '',
    '<a href="/podverdict/install#linux">': '',
    '<a href="#here"><h2 id="here">': '',
    [`<a href="${repository}/blob/main/docs/rules.md#unreadable">`]: '',
    [`<a href="${repository}/tree/main/docs">`]: '',
    [`<a href="${host}/podverdict/rules/unreadable">`]: '',
    '<a href="https://example.com/anything">': '',
    '<a href="/podverdict/gone">': 'the site has no such page',
    '<a href="/podverdict/install#gone">': 'the page has no such anchor',
    '<a href="#gone">': 'the page has no such anchor',
    '<a href="/install">': 'the link leaves the site',
    [`<a href="${repository}/blob/main/docs/gone.md">`]: 'the repository has no such file',
    [`<a href="${repository}/blob/main/docs/rules.md#gone">`]: 'the file has no such heading',
    [`<a href="${host}/podverdict/rules/gone">`]: 'the site has no such page',
    '<img src="https://example.com/a.png">': 'the page loads from another host',
    '<link rel="stylesheet" href="//example.com/a.css">': 'the page loads from another host',
  }
  for (const [body, problem] of Object.entries(page)) {
    const tree = folder(t, { 'docs/rules.md': rules })
    const dist = folder(t, { 'index.html': html(body), 'install.html': html('<h2 id="linux">'), 'rules/unreadable.html': html('') })
    assert.deepEqual(check(tree, dist, []).broken.map(finding => finding.problem), problem ? [problem] : [], body)
  }
})

test('pages that are missing, and pages that may load anything', t => {
  const tree = folder(t, { 'docs/rules.md': rules })
  const dist = folder(t, { 'index.html': '' })
  assert.deepEqual(check(tree, dist, []).broken, [
    { file: 'index.html', problem: 'the page has no Content-Security-Policy' },
    { file: 'docs/rules.md', link: '/rules/unreadable', problem: 'the site has no such page' },
  ])
})

test('files of the repository', t => {
  const file = {
    '[a](../README.md#start-here)': '',
    '[a](#rules)': '',
    '[a](other.md)': 'the repository has no such file',
    '[a](../README.md#gone)': 'the file has no such heading',
    '![a](gone.png)': 'the repository has no such file',
    '`[a](gone.md)`': '',
    '| a |\n|---|\n| [a](gone.md) |': 'the repository has no such file',
    [`runbook_url: "${repository}/blob/main/README.md#gone"`]: 'the file has no such heading',
  }
  for (const [text, problem] of Object.entries(file)) {
    const tree = folder(t, { 'docs/rules.md': rules + text, 'README.md': '# Start here' })
    const dist = folder(t, { 'rules/unreadable.html': html('') })
    assert.deepEqual(check(tree, dist, ['docs/rules.md']).broken.map(finding => finding.problem), problem ? [problem] : [], text)
  }
})

test('anchors are those of GitHub', () => {
  const anchors = headings('# The `explain` verb, twice\n## Twice\n## Twice\n## In 1.37: *new*_\n').map(heading => heading.anchor)
  assert.deepEqual(anchors, ['the-explain-verb-twice', 'twice', 'twice-1', 'in-137-new_'])
})

test('links lead to pages of the site or into the repository', t => {
  const tree = folder(t, { 'docs/rules.md': rules, 'examples/a/job.yaml': '' })
  const leads = {
    'check.md': '/check',
    'check.md#reports': '/check#reports',
    '#reports': '#reports',
    'README.md': '/documentation',
    '../README.md#install': '/#install',
    'rules.md': '/rules',
    'rules.md#input': '/rules#input',
    'rules.md#unreadable': '/rules/unreadable',
    '../examples/a': `${repository}/tree/v1.2.3/examples/a`,
    '../examples/a/job.yaml': `${repository}/blob/v1.2.3/examples/a/job.yaml`,
    '../CONTRIBUTING.md#add-a-verb': `${repository}/blob/v1.2.3/CONTRIBUTING.md#add-a-verb`,
  }
  for (const [link, address] of Object.entries(leads)) assert.equal(addressOf(tree, 'v1.2.3', 'docs/tutorial.md', link), address)
})

test('versions are the newest patch of each minor release', () => {
  assert.deepEqual(minors([]), [])
  assert.deepEqual(minors(['v0.1.0', 'v0.10.0', 'v0.2.1', 'v0.2.10', 'v1.0.0-rc.1', 'nightly']), [
    { name: 'v0.10.0', folder: '', tag: true },
    { name: 'v0.2.10', folder: 'v0.2', tag: true },
    { name: 'v0.1.0', folder: 'v0.1', tag: true },
  ])
})

test('commands of examples are states of the playground', async t => {
  const tree = folder(t, { 'examples/a/job.yaml': 'job\n', 'examples/a/pods.yaml': 'pods\n', 'examples/a/a_test.yaml': 'suite\n', 'examples/s.yaml': 'script\n' })
  const state = { input: 'job\n---\npods\n', pinned: '', script: '', names: '', now: '', kubernetes: '', pane: 'matrix' }
  const shown = {
    'podverdict eval -f examples/a': state,
    'go run ./cmd/podverdict explain -f examples/a --now 2026-01-01T00:00:00Z a b': { ...state, names: 'a b', now: '2026-01-01T00:00:00Z', pane: 'why' },
    'podverdict compile --kubernetes 1.30 -f examples/a': { ...state, kubernetes: '1.30', pane: 'cel' },
    'podverdict diff examples/s.yaml examples/a': { ...state, pinned: 'script\n', pane: 'diff' },
    'podverdict simulate -f examples/a/job.yaml --script examples/s.yaml': { ...state, input: 'job\n', script: 'script\n', pane: 'life' },
    'podverdict eval -f examples/a -f examples/gone.yaml': undefined,
    'podverdict eval -f job.yaml': undefined,
    'podverdict eval -o json -f examples/a': undefined,
    'podverdict test examples/a': undefined,
    'kubectl get pods': undefined,
  }
  for (const [command, want] of Object.entries(shown)) assert.deepEqual(stateOf(tree, command), want, command)
  const [[, address]] = await addresses(tree, ['    $ podverdict eval -f examples/a\n    ...'])
  assert.deepEqual(await decode(new URL(address, host).hash), state)
})
