// Package report implements the verb report, which summarizes how Pods have failed.
//
// With -o html, the report is a single page that needs no network. The package writes its tables as HTML, so the page can be read and
// printed without scripts. page.js makes the tables sortable by their headings, and draws charts from them. Values are names that tenants
// choose: each is escaped where it is written, scripts contain none, and the page's content security policy allows only scripts with
// known hashes.
//
// Charts are drawn by Chartist, as SVG: sharp on paper, coloured by the style sheet, and a fifth of the size of Chart.js, which draws
// pixels. The folder chartist contains the released file and its license, which the page includes too. Its version is in
// playground/package.json; playground/test/report.test.mjs compares the file with that package. To update it, raise the version there,
// and copy dist/index.umd.js and LICENSE-MIT from playground/node_modules/chartist.
package report
