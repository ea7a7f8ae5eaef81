package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// awkward returns a report whose texts contain all characters that some format must escape.
func awkward() Report {
	return Report{
		Version: "v1.2.3", Rules: []catalogue.Rule{{ID: "odd", Title: "A description.", Aliases: []string{"O1"}, Severity: "error"}, {ID: "unused", Title: "Another."}},
		Subjects: []Subject{
			{Namespace: "default", Name: "good", File: "good.yaml"},
			{Namespace: "default", Name: "bad#1", File: "my jobs/a,b:c%.yaml", Findings: []Finding{
				{
					Check: "odd", Severity: "error", Rule: new(2), Field: "spec.podFailurePolicy.rules[2]",
					Message: `100% <wrong> & "quoted"`, Hint: "do\nbetter ]]>", Excerpt: "3 | - action: x\n  |   ^",
					At: manifest.Position{File: "my jobs/a,b:c%.yaml", Line: 3, Column: 5},
				},
				{
					Check: "undescribed", Severity: "warning", Message: "second", Field: "spec",
					At: manifest.Position{File: "/abs/x.yaml", Line: 1, Column: 1},
				},
			}},
		},
	}
}

func write(t *testing.T, r Report, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSARIF(t *testing.T) {
	for name, r := range map[string]Report{"awkward": awkward(), "empty": {Version: "v1"}} {
		text := write(t, r, "sarif")
		parsed, err := sarif.FromString(text, sarif.WithStrictValidation())
		if err != nil {
			t.Fatal(err)
		}
		if err := parsed.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	parsed, err := sarif.FromString(write(t, awkward(), "sarif"))
	if err != nil {
		t.Fatal(err)
	}
	run := parsed.Runs[0]
	var got []string
	for _, result := range run.Results {
		place := result.Locations[0].PhysicalLocation
		got = append(got, *result.RuleID, *run.Tool.Driver.Rules[result.RuleIndex].ID, result.Level, *place.ArtifactLocation.URI)
	}
	want := []string{
		"odd", "odd", "error", "my%20jobs/a,b:c%25.yaml",
		"undescribed", "undescribed", "warning", "file:///abs/x.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJUnit(t *testing.T) {
	var suites junit.Testsuites
	if err := xml.Unmarshal([]byte(write(t, awkward(), "junit")), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 3 || suites.Failures != 2 || len(suites.Suites) != 2 {
		t.Errorf("%d tests, %d failures, %d suites", suites.Tests, suites.Failures, len(suites.Suites))
	}
	failure := suites.Suites[1].Testcases[0].Failure
	if failure.Message != awkward().Subjects[1].Findings[0].Message || !strings.Contains(failure.Data, "better ]]>") {
		t.Errorf("got %+v", failure)
	}
}

func TestJSON(t *testing.T) {
	var got list
	if err := json.Unmarshal([]byte(write(t, awkward(), "json")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(awkward().list(), got, cmpopts.IgnoreFields(Finding{}, "At", "Excerpt", "Document", "Reason")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	for format, want := range map[string]string{
		"github": `::error file=my jobs/a%2Cb%3Ac%25.yaml,line=3,col=5,title=odd::spec.podFailurePolicy.rules[2]: 100%25 <wrong> & "quoted"%0Ado%0Abetter ]]>
::warning file=/abs/x.yaml,line=1,col=1,title=undescribed::spec: second
`,
		"tap": `TAP version 13
1..3
ok 1 - job default/good
not ok 2 - job default/bad\#1: 100% <wrong> & "quoted"
  ---
  check: odd
  severity: error
  field: "spec.podFailurePolicy.rules[2]"
  at: "my jobs/a,b:c%.yaml:3:5"
  hint: "do\nbetter ]]>"
  ...
not ok 3 - job default/bad\#1: second
  ---
  check: undescribed
  severity: warning
  field: "spec"
  at: "/abs/x.yaml:1:1"
  hint: ""
  ...
`,
	} {
		if diff := cmp.Diff(want, write(t, awkward(), format)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", format, diff)
		}
	}
}

// The last line is for findings that podverdict rules explains.
func TestExplained(t *testing.T) {
	const explained = "podverdict rules ID explains a finding"
	r := awkward()
	if text := write(t, r, "table"); strings.Contains(text, explained) {
		t.Errorf("nothing explains [undescribed]:\n%s", text)
	}
	r.Subjects[1].Findings = r.Subjects[1].Findings[:1]
	if text := write(t, r, "table"); !strings.Contains(text, explained) {
		t.Errorf("does not say what explains [odd]:\n%s", text)
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := awkward().Write(&bytes.Buffer{}, "jsn"); err == nil {
		t.Error("no error")
	}
	for _, format := range Formats() {
		if write(t, awkward(), format) == "" {
			t.Errorf("%s: nothing written", format)
		}
	}
}
