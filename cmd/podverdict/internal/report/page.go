package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"

	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/terminal"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	//go:embed chartist/index.umd.js
	charts []byte
	//go:embed chartist/LICENSE-MIT
	license string
)

// writeHTML writes the page of a report. Effect describes the changes by --policy; command and version show how the report was made.
func writeHTML(w io.Writer, r *evidence.Report, effect []string, command, version string) error {
	var p page
	p.head(span(r))
	p.add("<main>\n<h1>Failed Pods</h1>\n<p>%s</p>\n", span(r))
	p.figures(r)
	p.causes(r.Causes)
	p.list("What other rules would have changed", effect)
	p.add("<div id=\"charts\"></div>\n")
	for i := range r.Sections {
		p.section(&r.Sections[i])
	}
	p.idle(r)
	p.notes(r)
	p.add("</main>\n<footer>\n<p><code>%s</code></p>\n<p>podverdict %s</p>\n</footer>\n", command, version)
	p.scripts()
	p.add("</body>\n</html>\n")
	_, err := w.Write(p.Bytes())
	return err
}

type page struct{ bytes.Buffer }

// add writes markup with escaped values.
func (p *page) add(markup string, values ...any) {
	for i, value := range values {
		values[i] = html.EscapeString(terminal.Line(fmt.Sprint(value)))
	}
	fmt.Fprintf(p, markup, values...)
}

func code() []string {
	library, _, _ := bytes.Cut(charts, []byte("//# sourceMappingURL"))
	return []string{"/*! Chartist\n\n" + license + "*/\n" + string(library), script}
}

// head writes the start of the page, up to the body. The content security policy allows style attributes, which the chart library sets,
// and otherwise only the styles and scripts with the hashes written here.
func (p *page) head(span string) {
	p.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.add("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; ")
	p.add("style-src '%s'; style-src-attr 'unsafe-inline'; script-src", hash(style))
	for _, s := range code() {
		p.add(" '%s'", hash(s))
	}
	p.add("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	p.add("<title>Failed Pods, %s</title>\n<style>", span)
	fmt.Fprint(p, style)
	p.add("</style>\n</head>\n<body>\n")
}

func (p *page) scripts() {
	for _, s := range code() {
		p.add("<script>")
		fmt.Fprint(p, s)
		p.add("</script>\n")
	}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// span returns the days that the report covers.
func span(r *evidence.Report) string {
	const day = "2 January 2006"
	first, last := r.First.Format(day), r.Last.Format(day)
	switch {
	case r.Last.IsZero():
		return "none in the input"
	case first == last:
		return first
	}
	return first + " to " + last
}
