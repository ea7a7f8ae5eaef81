package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// hostile contains control sequences for terminals and CI systems, and text that resembles podverdict's own messages.
const hostile = "p\x1b]8;;\x07\r\nFAKE\n::error::FAKE\n ::add-mask::FAKE ##[group]FAKE ##vso[task]FAKE\u202e\u200b\u0085\u009b\u2028\t\x7f%0A::x"

type tree = map[string]any

// hostileJob returns a valid Job with hostile text in every name.
func hostileJob(change func(job tree)) tree {
	job := tree{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": tree{"name": hostile, "namespace": hostile, "labels": tree{hostile: hostile}},
		"spec": tree{
			"podFailurePolicy": tree{"rules": []any{
				tree{"action": "Count", "onPodConditions": []any{tree{"type": "Other", "status": "True"}}},
				tree{"action": "FailJob", "onExitCodes": tree{"operator": "In", "values": []any{42}}},
				tree{"action": "Ignore", "onExitCodes": tree{"operator": "In", "values": []any{42}}},
			}},
			"template": tree{"spec": tree{"restartPolicy": "Never", "containers": []any{tree{"name": hostile, "image": hostile}}}},
		},
	}
	if change != nil {
		change(job)
	}
	return job
}

func hostilePod(change func(pod tree)) tree {
	pod := tree{
		"apiVersion": "v1", "kind": "Pod", "metadata": tree{"name": hostile, "namespace": hostile, "labels": tree{"job-name": hostile}},
		"spec": tree{"nodeName": hostile, "containers": []any{tree{"name": hostile, "image": hostile}}},
		"status": tree{
			"phase": "Failed", "reason": hostile, "message": hostile,
			"conditions": []any{tree{"type": hostile, "status": "True", "reason": hostile, "message": hostile}},
			"containerStatuses": []any{tree{
				"name": hostile, "image": hostile, "imageID": "", "ready": false, "restartCount": 0,
				"state": tree{"terminated": tree{"exitCode": 42, "reason": hostile, "message": hostile}},
			}},
		},
	}
	if change != nil {
		change(pod)
	}
	return pod
}

func hostilePolicy(name, when string) tree {
	return tree{
		"apiVersion": print.APIVersion, "kind": "PodFailurePolicy", "metadata": tree{"name": name},
		"spec": tree{"rules": []any{tree{
			"name": "always", "when": when, "action": "Count", "reason": "Always", "messageExpression": "'says ' + pod.status.message",
		}}},
	}
}

func hostileSuite(change tree) tree {
	suite := tree{
		"apiVersion": print.APIVersion, "kind": "Suite", "metadata": tree{"name": hostile}, "job": "job.json",
		"cases": []any{
			tree{"name": hostile, "exitCode": 42, "expect": tree{"matched": true}},
			tree{"name": hostile + "2", "exitCode": 42, "expect": tree{"message": hostile}},
			tree{"name": hostile + "3", "from": hostile, "expect": tree{"rule": hostile}},
		},
	}
	maps.Copy(suite, change)
	return suite
}

// hostileInputs are sets of objects, both valid and invalid in every way.
var hostileInputs = map[string][]tree{
	"good":            {hostileJob(nil), hostilePod(nil)},
	"custom":          {hostileJob(nil), hostilePod(nil), hostilePolicy("p", "true")},
	"bad expression":  {hostileJob(nil), hostilePod(nil), hostilePolicy("p", "'"+hostile+"' == "+hostile)},
	"bad policy name": {hostileJob(nil), hostilePod(nil), hostilePolicy(hostile, "true")},
	"unknown fields": {
		hostileJob(func(job tree) { job[hostile] = 1 }), hostilePod(func(pod tree) { pod["spec"].(tree)[hostile] = hostile }),
	},
	"wrong types": {hostileJob(func(job tree) { job["metadata"].(tree)["labels"] = tree{hostile: []any{hostile}} })},
	"kind":        {tree{"apiVersion": "v1", "kind": hostile, "metadata": tree{"name": hostile}}},
	"apiVersion":  {tree{"apiVersion": hostile, "kind": "Job", "metadata": tree{"name": hostile}}},
	"same name":   {hostileJob(nil), hostileJob(nil), hostilePod(nil)},
	"no such Job": {hostileJob(nil), hostilePod(func(pod tree) { pod["metadata"].(tree)["labels"] = tree{"job-name": hostile + "2"} })},
	"bad rule": {hostileJob(func(job tree) {
		job["spec"].(tree)["podFailurePolicy"] = tree{"rules": []any{tree{"action": hostile}}}
	}), hostilePod(nil)},
	"another owner": {hostileJob(nil), hostilePod(func(pod tree) {
		pod["metadata"].(tree)["ownerReferences"] = []any{tree{"apiVersion": hostile, "kind": hostile, "name": hostile, "uid": hostile, "controller": true}}
	})},
	"suite":          {hostileSuite(nil)},
	"suite of files": {hostileSuite(tree{"policies": []any{hostile}, "pods": []any{"../" + hostile, hostile}})},
	"suite of what":  {hostileSuite(tree{"kubernetes": hostile, hostile: hostile})},
}

// hostileTexts are inputs that are not JSON.
var hostileTexts = map[string]string{
	"no YAML":       "a: [" + hostile,
	"a text":        hostile,
	"repeated keys": strings.Repeat(strconv.Quote("x\x1b\n::error::FAKE")+": 1\n", 2),
	"no UTF-8":      "a: \xff\x1b",
}

// verbArguments are additional arguments that commands need.
var verbArguments = map[string][]string{
	"simulate":     {"--until", "1h"},
	"generate vap": {"--constraints"},
	"generate map": nil,
	"test":         nil,
	"eval":         nil,
	"explain":      nil,
	"compile":      nil,
}

// TestHostileInput passes hostile input to each command that reads files, in each of its output formats.
func TestHostileInput(t *testing.T) {
	t.Chdir(t.TempDir())
	inputs := map[string]string{}
	for name, objects := range hostileInputs {
		var text bytes.Buffer
		for _, o := range objects {
			if err := json.NewEncoder(&text).Encode(o); err != nil {
				t.Fatal(err)
			}
		}
		inputs[name] = text.String()
	}
	maps.Copy(inputs, hostileTexts)
	job, _, _ := strings.Cut(inputs["good"], "\n")
	writeFile(t, "job.json", job)
	for name, text := range inputs {
		// The file name is hostile, too.
		file := strings.NewReplacer("/", "_", " ", "").Replace(name) + "\x1b\n::error::FAKE,file=x\u202e_test.yaml"
		writeFile(t, file, text)
		t.Run(name, func(t *testing.T) {
			for _, verb := range verbs(newRoot(newProgram("podverdict"))) {
				checkVerb(t, verb, file)
			}
		})
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// verbs returns the commands that read user input.
func verbs(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, verb := range cmd.Commands() {
		all = append(all, verbs(verb)...)
		if verb.Flags().Lookup("filename") != nil || verb.Name() == "test" {
			all = append(all, verb)
		}
	}
	return all
}

// checkVerb runs a command on a file in all its formats.
func checkVerb(t *testing.T, verb *cobra.Command, file string) {
	t.Helper()
	name := strings.TrimPrefix(verb.CommandPath(), "podverdict ")
	args := append([]string{"podverdict"}, strings.Fields(name)...)
	args = append(append(args, verbArguments[name]...), "-f", file)
	if name == "test" {
		args = []string{"podverdict", "test", "-v", "--coverage", file}
	}
	formats := []string{""}
	if flag := verb.Flags().Lookup("output"); flag != nil {
		if f, ok := flag.Value.(*cli.Format); ok {
			formats = f.Formats
		}
	}
	for _, format := range formats {
		given := args
		if format != "" {
			given = append(slices.Clip(given), "-o", format)
		}
		var stdout, stderr bytes.Buffer
		code := run(given, strings.NewReader(""), &stdout, &stderr)
		what := name + " -o " + format
		if code == cli.ExitError && stderr.Len() == 0 || code != cli.ExitError && stdout.Len() == 0 && format != "github" {
			t.Errorf("%s: exit code %d, %d bytes of output, %d of errors", what, code, stdout.Len(), stderr.Len())
		}
		checkInert(t, what, stderr.String(), "")
		checkInert(t, what, stdout.String(), format)
	}
}

// ours matches workflow commands written by podverdict.
var ours = regexp.MustCompile(`^::(error|warning) (file=[^:,]+,line=\d+,col=\d+,)?title=[A-Za-z0-9-]+::`)

// checkInert checks that the output contains nothing that a terminal or CI system would interpret.
func checkInert(t *testing.T, what, out, format string) {
	t.Helper()
	for _, c := range []string{"\x1b", "\x07", "\r", "\x7f", "\x00", "\u0085", "\u009b", "\u202e", "\u200b", "\u2028", "##[", "##vso["} {
		if i := strings.Index(out, c); i >= 0 {
			t.Errorf("%s: %q in %.200q", what, c, out[max(0, i-100):])
		}
	}
	for line := range strings.Lines(out) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "::") && (format != "github" || !ours.MatchString(line)) {
			t.Errorf("%s: a command: %.200q", what, line)
		}
		if strings.HasPrefix(line, "FAKE") {
			t.Errorf("%s: a line of somebody else's: %.200q", what, line)
		}
	}
	var parsed any
	switch format {
	case "json", "sarif":
		if err := json.Unmarshal([]byte(out), &parsed); out != "" && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case "yaml":
		if err := yaml.Unmarshal([]byte(out), &parsed); out != "" && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestHostileNamesAreExact checks that JSON and YAML output preserves names exactly.
func TestHostileNamesAreExact(t *testing.T) {
	t.Chdir(t.TempDir())
	var text bytes.Buffer
	for _, o := range hostileInputs["good"] {
		if err := json.NewEncoder(&text).Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, "all.json", text.String())
	for _, format := range []string{"json", "yaml"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"podverdict", "eval", "-f", "all.json", "-o", format}, strings.NewReader(""), &stdout, &stderr); code != cli.ExitFine {
			t.Fatalf("%s: exit code %d, %s", format, code, stderr.String())
		}
		var list struct {
			Items []struct{ Job, Pod manifest.Reference }
		}
		if err := yaml.Unmarshal(stdout.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		want := manifest.Reference{Namespace: hostile, Name: hostile}
		if len(list.Items) != 1 || list.Items[0].Job != want || list.Items[0].Pod != want {
			t.Errorf("%s: got %+q", format, list)
		}
	}
}
