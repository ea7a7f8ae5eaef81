package suites

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFieldsAreDocumented checks that the documentation lists exactly the fields that a suite can have.
func TestFieldsAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/testing-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for heading, of := range map[string]reflect.Type{
		"### Fields of a suite": reflect.TypeFor[document](), "### Fields of a case": reflect.TypeFor[caseDocument](),
		"### What can be expected": reflect.TypeFor[expectation](),
	} {
		_, section, found := strings.Cut(text, heading+"\n")
		if !found {
			t.Fatalf("there is no section %q", heading)
		}
		section, _, _ = strings.Cut(section, "\n#")
		documented := map[string]bool{}
		for line := range strings.Lines(section) {
			cells := strings.Split(line, "|")
			if len(cells) < 3 || !strings.Contains(cells[1], "`") {
				continue
			}
			for name := range strings.SplitSeq(cells[1], ",") {
				name, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(name), "`"), ".")
				documented[name] = true
			}
		}
		fields := map[string]bool{}
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "apiVersion" && name != "kind" {
				fields[name] = true
			}
		}
		if diff := cmp.Diff(fields, documented); diff != "" {
			t.Errorf("%s (-fields +documented)\n%s", heading, diff)
		}
	}
}

func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"a_test.yaml", "b/c_test.yml", "b/d/e_test.json", "b/d/policy.yaml", "b/.git/f_test.yaml", "b/.g_test.yaml", "b/_test.txt",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ arguments, want []string }{
		{[]string{"."}, []string{"a_test.yaml", "b/c_test.yml", "b/d/e_test.json"}},
		{[]string{"./..."}, []string{"a_test.yaml", "b/c_test.yml", "b/d/e_test.json"}},
		{[]string{"b/d/...", "b"}, []string{"b/d/e_test.json", "b/c_test.yml"}},
		{[]string{"b/d/policy.yaml"}, []string{"b/d/policy.yaml"}},
		{[]string{"b/.git"}, []string{"b/.git/f_test.yaml"}},
	} {
		got, err := Find(c.arguments)
		if err != nil {
			t.Errorf("%v: %v", c.arguments, err)
		}
		var files []string
		for _, found := range got {
			files = append(files, found.File)
		}
		if diff := cmp.Diff(c.want, files); diff != "" {
			t.Errorf("%v (-want +got)\n%s", c.arguments, diff)
		}
	}
	if _, err := Find([]string{"nowhere"}); err == nil {
		t.Error("no error")
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", 10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h",
	} {
		if got := brief(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
