package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/runtime"
)

// verdictType is the type of verdicts that eval writes as NDJSON, and of history lines, which also contain the Pod.
var verdictType = metav1.TypeMeta{APIVersion: customVersion, Kind: "Verdict"}

// verdict queues the Pod of a Verdict for decoding, together with its recorded decision. A Verdict without its Pod is skipped.
func (c *content) verdict(o Origin, value []byte) {
	var v struct {
		Verdict *runtime.Verdict `json:"verdict"`
		Object  json.RawMessage  `json:"object"`
	}
	switch {
	case !c.lenient(o, value, &v):
	case v.Object != nil:
		c.waiting = append(c.waiting, waitingPod{o.at("object"), v.Object, v.Verdict})
	case c.options.Strict:
		c.fail(o, "object", messageRequired)
	default:
		c.Skipped.Verdicts++
	}
}

// isTorn reports whether an unreadable document is the beginning of a history line: the process was killed while it wrote the last
// line of the file.
func (d *Document) isTorn() bool {
	const begin = `{"kind":"`
	n := min(len(begin), len(d.Text))
	var value json.RawMessage
	return string(d.Text[:n]) == begin[:n] && bytes.IndexByte(d.Text, '\n') < 0 &&
		errors.Is(json.NewDecoder(bytes.NewReader(d.Text)).Decode(&value), io.ErrUnexpectedEOF)
}
