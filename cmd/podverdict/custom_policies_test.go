package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/custom-policies.md has what the commands print, findings included.
func TestCustomPoliciesDocument(t *testing.T) {
	t.Chdir("../..")
	const document = "docs/custom-policies.md"
	text := read(t, document)
	blocks := strings.Split(text, readmePrompt)
	if len(blocks) != 4 {
		t.Fatalf("%s has %d commands", document, len(blocks)-1)
	}
	for i, block := range blocks[1:] {
		command, rest, _ := strings.Cut(block, "\n")
		var out, errs bytes.Buffer
		if code := run(append([]string{"podverdict"}, strings.Fields(command)...), strings.NewReader(""), &out, &errs); code == exitError {
			t.Errorf("podverdict %s: %s", command, errs.String())
		}
		blocks[i+1] = command + "\n" + indent(strings.TrimRight(trimLines(out.String()), "\n")) + "\n\n" + afterIndented(rest)
	}
	shown := strings.Join(blocks, readmePrompt)
	if *update {
		write(t, document, shown)
		return
	}
	if diff := cmp.Diff(text, shown); diff != "" {
		t.Errorf("%s differs (-document +output):\n%s", document, diff)
	}
}
