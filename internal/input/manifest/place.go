package manifest

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/input/documents"
)

// placeOnly returns the origin without the text of its document: errors still name file, line and field, but have no excerpt.
func (o Origin) placeOnly() Origin {
	return Origin{Document: o.Document.without(), Path: o.Path}
}

// AppendPlace encodes the part of an origin that placeOnly keeps.
func (o Origin) AppendPlace(to []byte) []byte {
	if o.Document == nil {
		return to
	}
	d, several := o.Document, int64(0)
	if d.several() {
		several = 1
	}
	for _, text := range []string{d.File, o.Path} {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	item := int64(documents.Rest)
	if d.isItem() {
		item = int64(d.Item)
	}
	for _, n := range []int64{int64(d.Line), int64(d.Column), int64(d.Number), item, several} {
		to = binary.AppendVarint(to, n)
	}
	return to
}

// severalDocuments is the document count used for any file with more than one.
var severalDocuments = func() *atomic.Int64 {
	n := new(atomic.Int64)
	n.Store(2)
	return n
}()

var errPlace = errors.New("a place in a file cannot be read")

// OriginAt decodes an origin encoded by AppendPlace. Empty input decodes to the zero Origin.
func OriginAt(encoded []byte) (o Origin, err error) {
	if len(encoded) == 0 {
		return o, nil
	}
	var texts [2]string
	for i := range texts {
		size, n := binary.Uvarint(encoded)
		if n <= 0 || size > uint64(len(encoded)-n) { //nolint:gosec // n is at most the length
			return o, errPlace
		}
		texts[i], encoded = string(encoded[n:n+int(size)]), encoded[n+int(size):] //nolint:gosec // no more than there are bytes
	}
	var numbers [5]int
	for i := range numbers {
		number, n := binary.Varint(encoded)
		if n <= 0 {
			return o, errPlace
		}
		numbers[i], encoded = int(number), encoded[n:]
	}
	d := &Document{File: texts[0]}
	d.Line, d.Column, d.Number, d.Item = numbers[0], numbers[1], numbers[2], numbers[3]
	if d.Item != documents.Rest {
		d.List = &metav1.TypeMeta{}
	}
	if numbers[4] > 0 {
		d.of = severalDocuments
	}
	return Origin{Document: d, Path: texts[1]}, nil
}
