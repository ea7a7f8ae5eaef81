// minors returns the newest patch of each minor release among tags, newest first, and the folder of the site that it is built
// into. Release candidates and other tags are left out.
export function minors(tags) {
  const releases = tags
    .map(name => name.match(/^v(\d+)\.(\d+)\.(\d+)$/))
    .filter(Boolean)
    .map(([name, ...numbers]) => ({ name, numbers: numbers.map(Number) }))
    .sort((a, b) => b.numbers[0] - a.numbers[0] || b.numbers[1] - a.numbers[1] || b.numbers[2] - a.numbers[2])
  const minor = ({ numbers }) => `v${numbers[0]}.${numbers[1]}`
  return releases
    .filter((release, i) => i === 0 || minor(release) !== minor(releases[i - 1]))
    .map((release, i) => ({ name: release.name, folder: i === 0 ? '' : minor(release), tag: true }))
}
