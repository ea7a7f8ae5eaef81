package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	verdictLine = `{"kind":"Verdict","apiVersion":"podverdict.io/v1alpha1","pod":{"name":"a"},"verdict":{"terminal":true,"matched":true,"action":"Ignore","policy":"gpu","ruleName":"oom"},` +
		`"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"1","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u2","controller":true}]},"status":{"phase":"Failed"}}}`
	withoutObject = `{"apiVersion":"podverdict.io/v1alpha1","kind":"Verdict","pod":{"namespace":"n","name":"b"},"verdict":{"action":"Count"}}`
)

func jobLine(uid string) string {
	return `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"j","namespace":"n","uid":"` + uid + `"},"spec":{"template":{"spec":{"containers":null}}},"status":{}}`
}

// TestHistory reads history lines: complete, duplicated, and truncated.
func TestHistory(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		pods  string // expected Pods with their recorded verdicts
		notes string // substring of the notes
		wrong string // substring of the error
	}{
		"a verdict":            {text: verdictLine + "\n", pods: "n/a Ignore by oom"},
		"without its Pod":      {text: withoutObject + "\n" + verdictLine + "\n", pods: "n/a Ignore by oom", notes: "skipped 1 verdict without the Pod itself"},
		"cut off":              {text: verdictLine + "\n" + verdictLine[:200], pods: "n/a Ignore by oom", notes: "cut off when the controller was killed, the first at FILE:2:1"},
		"cut off early":        {text: verdictLine + "\n" + verdictLine[:1], pods: "n/a Ignore by oom", notes: "cut off"},
		"a Job that is cut":    {text: verdictLine + "\n" + jobLine("u")[:60], pods: "n/a Ignore by oom", notes: "cut off"},
		"a Pod that is cut":    {text: verdictLine + "\n" + `{"kind":"Pod","apiVersion":"v1","metadata":{"na`, pods: "n/a Ignore by oom", notes: "cut off"},
		"no verdict":           {text: strings.Replace(verdictLine, `"terminal":true`, `"terminal":3`, 1), wrong: "FILE:1:86: verdict: expected a boolean, found a number"},
		"broken in the middle": {text: strings.Replace(verdictLine, `"terminal":true`, `"terminal":t`, 1) + "\n" + verdictLine + "\n", pods: "n/a Ignore by oom", wrong: "FILE:1:"},
		"a Pod that is none":   {text: strings.Replace(verdictLine, `"phase":"Failed"`, `"phase":3`, 1), wrong: "FILE:1:"},
		"in a List":            {text: `{"apiVersion":"v1","kind":"List","items":[` + verdictLine + `]}`, pods: "n/a Ignore by oom"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "h.ndjson")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			set, err := Read(t.Context(), Options{Filenames: []string{file}})
			if text := strings.ReplaceAll(errorOf(err), file, "FILE"); (err == nil) != (c.wrong == "") || !strings.Contains(text, c.wrong) {
				t.Errorf("the error is %q, want %q", text, c.wrong)
			}
			var pods []string
			for _, p := range set.Pods {
				pods = append(pods, p.Reference().String()+" "+string(p.Recorded.Action)+" by "+p.Recorded.RuleName)
			}
			if diff := cmp.Diff(c.pods, strings.Join(pods, ", ")); diff != "" {
				t.Errorf("the Pods differ (-want +got):\n%s", diff)
			}
			notes := strings.ReplaceAll(strings.Join(set.Skipped.Notes(), "\n"), file, "FILE")
			if (notes == "") != (c.notes == "") || !strings.Contains(notes, c.notes) {
				t.Errorf("the notes are %q, want %q", notes, c.notes)
			}
			if _, err := Read(t.Context(), Options{Filenames: []string{file}, Strict: true}); c.notes != "" && err == nil {
				t.Error("--strict takes it")
			}
		})
	}
}

func errorOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
