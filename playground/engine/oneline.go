package main

import (
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
)

// place is the line directive before all code: a program keeps tables of the file and the line of each instruction, which are a
// tenth of it and which nobody asks for in a page.
const place = "\n//line /go:1\n"

// oneLine returns the text of a Go file with all code at the same place. Directives keep lines of their own.
func oneLine(text []byte) []byte {
	var scan scanner.Scanner
	scan.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	var out strings.Builder
	out.WriteString(place)
	for {
		_, tok, literal := scan.Scan()
		switch {
		case tok == token.EOF:
			return []byte(out.String())
		case tok == token.COMMENT:
			if strings.HasPrefix(literal, "//go:") {
				out.WriteString("\n" + literal + place)
			}
			continue
		case tok == token.SEMICOLON:
			literal = ";"
		case tok == token.STRING && literal[0] == '`':
			literal = quoted(literal)
		case literal == "":
			literal = tok.String()
		}
		out.WriteString(literal + " ")
	}
}

// quoted returns a raw string literal, which can have lines, as one that has none.
func quoted(raw string) string {
	return strconv.Quote(strings.ReplaceAll(raw[1:len(raw)-1], "\r", ""))
}
