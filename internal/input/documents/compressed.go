//go:build !js

package documents

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is how far back a text compressed by zstd may refer, and how much memory that takes: as far as zstd goes by itself.
const maxWindow = 128 << 20

// decompressed returns what stands in a stream that may be compressed by gzip or zstd.
func decompressed(in io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(in)
	magic, _ := buffered.Peek(4) // an error comes again with the first read
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return gzip.NewReader(buffered)
	case bytes.Equal(magic, []byte("\x28\xb5\x2f\xfd")):
		text, err := zstd.NewReader(buffered, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return text.IOReadCloser(), nil
	}
	return io.NopCloser(buffered), nil
}
