// Package reportpage writes a report as one HTML page, which needs no network:
//
//	err := reportpage.Write(file, report, "podverdict report -o html history/", "v0.3.0")
//
// Tables are written here, so the page can be read and printed without scripts. page.js makes their headings sort them, and draws
// charts from them. Values are names that tenants choose: each is escaped where it is written, scripts contain none, and the page's
// content security policy lets nothing run but the scripts whose hashes it has.
//
// Charts are drawn by Chartist, as SVG: sharp on paper, coloured by the style sheet, and a fifth of the size of Chart.js, which
// draws pixels. The folder chartist has the released file and its license, which the page carries too. Its version is in
// playground/package.json; playground/test/report.test.mjs compares the file with that package. To update it, raise the version there,
// and copy dist/index.umd.js and LICENSE-MIT from playground/node_modules/chartist.
package reportpage
