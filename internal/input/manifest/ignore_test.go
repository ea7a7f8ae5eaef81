package manifest

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnores(t *testing.T) {
	const text = `# podverdict:ignore whole all of it
apiVersion: batch/v1
spec:
  # podverdict:ignore block because
  podFailurePolicy:
    rules:
    - action: Count # podverdict:ignore item one rule
      onExitCodes: {}

    - action: Ignore
  parallelism: 5 # podverdict:ignore value
  # podverdict:ignore
  completions: 1 # a comment about podverdict:ignore x y
  suspend: "a # podverdict:ignore"
  # podverdict:ignore last at the end
---
# podverdict:ignore second   the   second
kind: Job
`
	documents := documentsOf(t, text)
	var got []string
	for _, d := range documents {
		for _, i := range d.Ignores() {
			lines := ""
			for line := 1; line <= 18; line++ {
				if i.Covers(Position{Line: line}) {
					lines += fmt.Sprintf(" %d", line)
				}
			}
			got = append(got, fmt.Sprintf("%s %s %q:%s", i.At, i.ID, i.Reason, lines))
		}
	}
	all := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"
	want := []string{
		`f:1:1 whole "all of it":` + all,
		`f:4:3 block "because": 4 5 6 7 8 9 10`,
		`f:7:21 item "one rule": 7 8`,
		`f:11:18 value "": 11`,
		`f:12:3  "": 12 13`,
		`f:15:3 last "at the end": 15`,
		`f:17:1 second "the   second":` + all,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// documentsOf splits a file into documents.
func documentsOf(t *testing.T, text string) []*Document {
	t.Helper()
	var documents []*Document
	in := source{name: "f", open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	err := in.split(0, func(d *Document) bool {
		documents = append(documents, d)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}
