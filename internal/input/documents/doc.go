// Package documents cuts a stream of YAML and JSON into documents, and long Lists into their items, without decoding them.
//
//	err := documents.Split(in, documents.Options{Limit: 256 << 20, Long: 1 << 20}, func(d documents.Document) bool {
//		fmt.Printf("%d:%d %s\n", d.Line, d.Column+1, d.Text)
//		return true
//	})
//
// Ends are found by brackets and markers alone: one goroutine splits while others decode. A stream may mix YAML and JSON, as in JSON
// behind a marker or an object a line, and be compressed by gzip or zstd. A List is cut where its kind says List, or is still to
// come and its first item has one. The List without its items follows them.
package documents
