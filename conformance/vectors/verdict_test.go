package vectors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
)

func vectors(t testing.TB) []Vector {
	t.Helper()
	vs, err := Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func TestVectorsCoverTheSemantics(t *testing.T) {
	covered := map[string]bool{}
	for _, v := range vectors(t) {
		for _, item := range v.Semantics {
			covered[item] = true
		}
	}
	for i := 1; i <= 29; i++ {
		if item := fmt.Sprintf("A.%d", i); !covered[item] {
			t.Errorf("no vector for %s", item)
		}
	}
}

func TestVectorsCoverTheFeatures(t *testing.T) {
	covered := map[Feature]bool{}
	for _, v := range vectors(t) {
		for _, f := range v.Features {
			covered[f] = true
		}
	}
	for _, f := range Features() {
		if !covered[f] {
			t.Errorf("no vector for feature %s", f)
		}
	}
}

// TestVectorsDeclareWhatTheyUse checks that the declared features are correct, because vectors are skipped by their features.
func TestVectorsDeclareWhatTheyUse(t *testing.T) {
	for _, v := range vectors(t) {
		want := uses(v.Request())
		if illegal(v) {
			want = append(want, FeatureIllegalPolicy)
		}
		if diff := cmp.Diff(want, v.Features); diff != "" {
			t.Errorf("%s: features (-used +declared):\n%s", v.Name, diff)
		}
	}
}

// uses returns the features that a request needs, in the order of Features. It omits FeatureIllegalPolicy, which only the API
// server's validation can determine.
func uses(r conformance.Request) []Feature {
	var rules []batchv1.PodFailurePolicyRule
	if r.Policy != nil {
		rules = r.Policy.Rules
	}
	used := map[Feature]bool{
		FeatureNoRules:           len(rules) == 0,
		FeatureInitContainers:    len(r.Pod.Status.InitContainerStatuses) > 0,
		FeaturePhase:             r.Pod.Status.Phase != corev1.PodFailed,
		FeatureKubernetesVersion: r.Kubernetes != "",
	}
	for _, rule := range rules {
		markRule(used, rule)
	}
	return slices.DeleteFunc(Features(), func(f Feature) bool { return !used[f] })
}

// markRule marks the features of a rule. Actions and operators are features of the same name; unknown ones are not features,
// and have no effect.
func markRule(used map[Feature]bool, rule batchv1.PodFailurePolicyRule) {
	used[Feature(rule.Action)] = true
	if codes := rule.OnExitCodes; codes != nil {
		used[FeatureOnExitCodes] = true
		used[Feature(codes.Operator)] = true
		if codes.ContainerName != nil {
			used[FeatureContainerName] = true
		}
	}
	if len(rule.OnPodConditions) > 0 {
		used[FeatureOnPodConditions] = true
	}
}

// illegal reports whether the API server would reject the policy for any Job.
func illegal(v Vector) bool {
	if v.Policy == nil {
		return false
	}
	for _, r := range v.Policy.Rules {
		if r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil && *r.OnExitCodes.ContainerName == "" {
			return true // no container has that name
		}
		for _, c := range r.OnPodConditions {
			if c.Status == "" {
				return true // the API server stores True
			}
		}
	}
	_, err := compiler.NewPolicy(v.Policy.DeepCopy())
	return err != nil
}

const goodVector = `A sentence.
#kep: KEP-3329 JobSpec API
#semantics: A.2, A.13
#features: OnExitCodes, In, FailJob
-- rules.yaml --
- action: FailJob
  onExitCodes: {operator: In, values: [42]}
-- pod.patch --
status.containerStatuses[0].state.terminated.exitCode: 42
metadata.labels["job-name"]: null
-- verdict.yaml --
terminal: true
matched: true
action: FailJob
counted: true
rule: 0
container: main
exitCode: 42
message: Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0
`

// from returns the end of the valid vector, starting at mark.
func from(mark string) string {
	_, rest, _ := strings.Cut(goodVector, mark)
	return mark + rest
}

// TestLoadRefuses changes one thing at a time in a valid vector.
func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           string
	}{
		{"no sentence", "A sentence.\n", "", `t/v.txtar:1: the first line must be the sentence that the file proves`},
		{"unknown header", "#semantics:", "#semantic:", `t/v.txtar:3: unknown header "#semantic"`},
		{"header twice", "#semantics: A.2, A.13", "#kep: x", `t/v.txtar:3: header "#kep" appears twice`},
		{"header without colon", "#semantics: A.2, A.13", "#semantics", `t/v.txtar:3: "#semantics" is not "key: value"`},
		{"empty header", "#kep: KEP-3329 JobSpec API", "#kep:", `t/v.txtar:2: header "#kep" is empty`},
		{"no kep", "#kep: KEP-3329 JobSpec API\n", "", `t/v.txtar:1: header "#kep" is missing`},
		{"no features", "#features: OnExitCodes, In, FailJob\n", "", `t/v.txtar:1: header "#features" is missing`},
		{"unknown item", "A.13", "A.30", `t/v.txtar:3: header "#semantics" cannot be "A.30"`},
		{"item twice", "A.13", "A.2", `t/v.txtar:3: header "#semantics" cannot be "A.2"`},
		{"unknown feature", "OnExitCodes,", "OnExitCode,", `t/v.txtar:4: unknown feature "OnExitCode"; known are ` + joined(Features())},
		{"feature twice", "In, FailJob", "In, In", `t/v.txtar:4: feature In appears twice`},
		{"bad version", "#semantics: A.2, A.13", "#kubernetes: new", `t/v.txtar:3: kubernetes version "new": could not parse "new" as version`},
		{"version out of range", "#semantics: A.2, A.13", "#kubernetes: 1.27", `t/v.txtar:3: kubernetes version "1.27": supported are 1.28 to 1.37`},
		{"bad policy", "#semantics: A.2, A.13", "#policy: none", `t/v.txtar:3: header "#policy" cannot be "none"`},
		{"text after headers", "#features", "More.\n#features", `t/v.txtar:4: text after the headers: "More."`},
		{"unknown section", "-- pod.patch --", "-- pod.yaml --", `t/v.txtar:8: unknown section "pod.yaml"; known are rules.yaml, pod.patch, verdict.yaml`},
		{"section twice", "-- pod.patch --", "-- rules.yaml --", `t/v.txtar:8: section rules.yaml appears twice`},
		{"nil policy with rules", "#semantics: A.2, A.13", "#policy: nil", `t/v.txtar:5: "#policy: nil" excludes section rules.yaml`},
		{"empty rules", "- action: FailJob\n  onExitCodes: {operator: In, values: [42]}\n", "", `t/v.txtar: section rules.yaml is missing; a Job without a policy is "#policy: nil"`},
		{"unknown rule field", "  onExitCodes:", "  onExitCode:", `t/v.txtar:7: unknown field "[0].onExitCode"`},
		{"case of a rule field", "  onExitCodes:", "  onexitcodes:", `t/v.txtar:7: unknown field "[0].onexitcodes"`},
		{"rule field twice", "values: [42]", "operator: In", `t/v.txtar:7: key "operator" already set in map`},
		{"rules are no YAML", "- action: FailJob", "- action: {", `t/v.txtar:7: did not find expected ',' or '}'`},
		{"unknown pod field", "exitCode: 42\nmeta", "exitcode: 42\nmeta", `t/v.txtar:9: unknown field "status.containerStatuses[0].state.terminated.exitcode"`},
		{"wrong type in the pod", "exitCode: 42\nmeta", "exitCode: x\nmeta", `t/v.txtar:9: json: cannot unmarshal string into Go struct field ContainerStateTerminated.status.containerStatuses.state.terminated.exitCode of type int32`},
		{"no path", "metadata.labels", "..metadata", `t/v.txtar:10: "..metadata[\"job-name\"]" is not a path like status.containerStatuses[0].name`},
		{"no colon", `["job-name"]: null`, "", `t/v.txtar:10: "metadata.labels" is not "key: value"`},
		{"no change", `metadata.labels["job-name"]: null`, "metadata.name: p", `t/v.txtar:10: changes nothing`},
		{"nothing to remove", `metadata.labels["job-name"]: null`, "metadata.uid: null", `t/v.txtar:10: removes what is not there`},
		{"index too high", "containerStatuses[0].state", "containerStatuses[2].state", `t/v.txtar:9: index 2, but there are 1 elements`},
		{"key into a list", "containerStatuses[0].state", "containerStatuses.state", `t/v.txtar:9: cannot set "state" in what is no object`},
		{"index into an object", `metadata.labels["job-name"]: null`, "metadata[0]: 1", `t/v.txtar:10: cannot set [0] in what is no list`},
		{"no verdict", from("-- verdict"), "", `t/v.txtar: section verdict.yaml is missing`},
		{"unknown verdict field", "exitCode: 42\nmessage", "exit: 42\nmessage", `t/v.txtar:18: unknown field "exit"`},
		{"verdict field twice", "exitCode: 42\nmessage", "rule: 0\nmessage", `t/v.txtar:18: key "rule" already set in map`},
		{"no terminal", "terminal: true\n", "", `t/v.txtar:11: field "terminal" is required`},
		{"no counted", "counted: true\n", "", `t/v.txtar:11: field "counted" is required`},
		{"no message", from("message:"), "", `t/v.txtar:11: field "message" is required`},
		{"rule without match", "matched: true", "matched: false", `t/v.txtar:11: field "rule" does not apply: no rule matched`},
		{"action without end", "terminal: true\nmatched: true", "terminal: false\nmatched: false", `t/v.txtar:11: field "action" does not apply: the pod is not terminal`},
		{"container and condition", "exitCode: 42\nmessage", "condition: A\nmessage", `t/v.txtar:11: field "container" does not apply: no exit code matched`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(goodVector, test.old) {
				t.Fatalf("%q is not in the good vector", test.old)
			}
			_, err := Load(tree(t, "t/v.txtar", strings.Replace(goodVector, test.old, test.new, 1)))
			var parse *ParseError
			if !errors.As(err, &parse) || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// tree returns a folder of vectors: the base file, and pairs of file name and content.
func tree(t testing.TB, pairs ...string) fs.FS {
	t.Helper()
	data, err := os.ReadFile(baseFile)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{baseFile: {Data: data}}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

func TestLoadRefusesFolders(t *testing.T) {
	other := strings.Replace(goodVector, "A sentence.", "Another.", 1)
	asked := strings.Replace(goodVector, "exitCode: 42\nmeta", "exitCode: 43\nmeta", 1)
	const unused = "unused file; want <topic>/<reason>.txtar in lower-case-with-dashes"
	const noSentence = "the first line must be the sentence that the file proves"
	tests := []struct {
		name  string
		files fs.FS
		want  string
	}{
		{"empty", tree(t), "no files <topic>/<reason>.txtar"},
		{"no base", fstest.MapFS{"t/v.txtar": {Data: []byte(goodVector)}}, "base.yaml: open base.yaml: file does not exist"},
		{"wrong base", fstest.MapFS{baseFile: {Data: []byte("\nspecs: {}\n")}}, `base.yaml:2: unknown field "specs"`},
		{"unused file", tree(t, "t/v.yaml", ""), "t/v.yaml: " + unused},
		{"too deep", tree(t, "t/u/v.txtar", goodVector), "t/u/v.txtar: " + unused},
		{"upper case", tree(t, "t/V.txtar", goodVector), "t/V.txtar: " + unused},
		{"same question", tree(t, "t/a.txtar", goodVector, "t/b.txtar", other), "t/b.txtar: asks the same question as t/a.txtar"},
		{"same sentence", tree(t, "t/a.txtar", goodVector, "t/b.txtar", asked), "t/b.txtar:1: the sentence is that of t/a.txtar"},
		{"two errors", tree(t, "t/a.txtar", "", "t/b.txtar", ""), "t/a.txtar:1: " + noSentence + "\nt/b.txtar:1: " + noSentence},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Load(test.files); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	got, err := Load(tree(t, "t/v.txtar", goodVector))
	if err != nil {
		t.Fatal(err)
	}
	v := got[0]
	if v.Name != "t/v" || v.Sentence != "A sentence." || !slices.Equal(v.Semantics, []string{"A.2", "A.13"}) {
		t.Errorf("headers: %+v", v)
	}
	if labels := v.Pod.Labels; len(labels) != 1 {
		t.Errorf("a label is left too many: %v", labels)
	}
	if code := v.Pod.Status.ContainerStatuses[0].State.Terminated.ExitCode; code != 42 {
		t.Errorf("exit code %d", code)
	}
	if verdict, err := conformance.Go(t.Context(), v.Request()); err != nil || !verdict.Equal(v.Want) {
		t.Errorf("got %+v, %v, want %+v", verdict, err, v.Want)
	}
}

// FuzzLoad checks that a vector is either rejected with its position, or is a question with a verdict and a valid claim.
func FuzzLoad(f *testing.F) {
	err := fs.WalkDir(embedded, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (path == string(constraints) || path == string(guardrails)) {
			return fs.SkipDir // see FuzzLoadJobs
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(path)
		f.Add(string(data))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Load(tree(t, "t/v.txtar", text))
		var parse *ParseError
		switch {
		case err == nil:
			if v, err := conformance.Go(t.Context(), got[0].Request()); err != nil || v.Terminal && v.Action == "" {
				t.Errorf("%+v, %v", v, err)
			}
		case !errors.As(err, &parse) || parse.Line > strings.Count(text, "\n")+1:
			t.Errorf("error without a place: %v", err)
		}
	})
}
