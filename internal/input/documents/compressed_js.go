package documents

import "io"

// decompressed returns the stream: what is pasted into a page is a text.
func decompressed(in io.Reader) (io.ReadCloser, error) { return io.NopCloser(in), nil }
