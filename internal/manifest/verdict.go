package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/runtime"
)

// verdictType is of the verdicts that eval writes as NDJSON, and of the lines of history, which have the Pod besides.
var verdictType = metav1.TypeMeta{APIVersion: customVersion, Kind: "Verdict"}

// verdict leaves the Pod of a Verdict waiting, with what was decided on it. A Verdict without its Pod is skipped.
func (c *content) verdict(o Origin, value []byte) {
	recorded := &runtime.Verdict{}
	object, verdict, err := membersOf(value)
	switch {
	case err != nil:
		c.fail(o, "", strings.TrimPrefix(err.Error(), "jsontext: "))
	case object == nil && c.options.Strict:
		c.fail(o, "object", messageRequired)
	case object == nil:
		c.Skipped.Verdicts++
	case json.Unmarshal(verdict, recorded) != nil:
		c.fail(o, "verdict", "this is no verdict")
	default:
		c.waiting = append(c.waiting, waitingPod{o.at("object"), object, recorded})
	}
}

// membersOf returns the Pod and the verdict of a Verdict, as parts of its text.
func membersOf(value []byte) (object, verdict []byte, err error) {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true))
	if _, err := tokens.ReadToken(); err != nil {
		return nil, nil, err
	}
	for tokens.PeekKind() == '"' {
		name, err := tokens.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		member := name.String()
		text, err := tokens.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		end := tokens.InputOffset()
		switch text = value[end-int64(len(text)) : end]; member {
		case "object":
			object = text
		case "verdict":
			verdict = text
		}
	}
	_, err = tokens.ReadToken()
	return object, verdict, err
}

// isTorn reports whether a document that cannot be read is the beginning of a history line: the last one of a file whose process was
// killed while it wrote it.
func (d *Document) isTorn() bool {
	const begin = `{"kind":"`
	n := min(len(begin), len(d.Text))
	if n == 0 || string(d.Text[:n]) != begin[:n] || bytes.IndexByte(d.Text, '\n') >= 0 {
		return false
	}
	var value json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(d.Text)).Decode(&value), io.ErrUnexpectedEOF)
}
