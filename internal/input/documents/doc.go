// Package documents splits a stream of YAML and JSON into documents, and long Lists into their items, without decoding them.
//
//	err := documents.Split(in, documents.Options{Limit: 256 << 20, Long: 1 << 20}, func(d documents.Document) bool {
//		fmt.Printf("%d:%d %s\n", d.Line, d.Column+1, d.Text)
//		return true
//	})
//
// Split needs only brackets and markers to find the end of a document, so that one goroutine can split while others decode. A stream
// may mix YAML and JSON, such as JSON after a marker or one object per line, and may be compressed with gzip or zstd. A List is
// split if its kind ends with List, or if its kind follows the items and the first item has a kind. The List without its items
// follows the items.
package documents
