//go:build !js

package documents

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the maximum window of zstd, in bytes of memory: the largest that zstd itself uses by default.
const maxWindow = 128 << 20

// decompressed returns the content of a stream that may be compressed with gzip or zstd.
func decompressed(in io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(in)
	magic, _ := buffered.Peek(4) // the first read returns the error again
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
