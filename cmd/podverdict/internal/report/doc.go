// Package report is the verb that sums up how Pods have failed.
//
// With -o html, the report is one page, which needs no network. Its tables are written here, so it can be read and printed without scripts. page.js makes their headings sort them, and draws
// charts from them. Values are names that tenants choose: each is escaped where it is written, scripts contain none, and the page's
// content security policy lets nothing run but the scripts whose hashes it has.
//
// Charts are drawn by Chartist, as SVG: sharp on paper, coloured by the style sheet, and a fifth of the size of Chart.js, which
// draws pixels. The folder chartist has the released file and its license, which the page carries too. Its version is in
// playground/package.json; playground/test/report.test.mjs compares the file with that package. To update it, raise the version there,
// and copy dist/index.umd.js and LICENSE-MIT from playground/node_modules/chartist.
package report
