package manifest_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestRead reads every file section of each archive and compares the result with the "want" section.
func TestRead(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			got, want := readArchive(t, archive), &archive.Files[len(archive.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last section is %q", want.Name)
			}
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func readArchive(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	t.Chdir(t.TempDir())
	var names []string
	for _, file := range archive.Files[:len(archive.Files)-1] {
		if err := os.WriteFile(file.Name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, file.Name)
	}
	set, err := manifest.Read(t.Context(), manifest.Options{Filenames: names})
	text := describe(set)
	if err == nil {
		var errs []error
		for f, err := range gathering.Of(set.Jobs, set.Pods).Families() {
			if errs = append(errs, err); err == nil && f.Job == nil {
				errs = append(errs, f.Others()...)
				continue
			}
			for _, pod := range f.Pods {
				text += fmt.Sprintf("%s has %s\n", f.Name, pod.Object.Name)
			}
		}
		err = errors.Join(append(errs, set.CheckPolicies())...)
	}
	for _, note := range set.Skipped.Notes() {
		text += note + "\n"
	}
	for _, err := range manifest.EachError(err) {
		text += err.Error() + "\n"
		if placed, ok := errors.AsType[*manifest.Error](err); ok {
			text += placed.Excerpt() + "\n"
		}
	}
	return text
}

// describe lists objects with their positions.
func describe(set *manifest.Set) string {
	var out strings.Builder
	for _, job := range set.Jobs {
		fmt.Fprintf(&out, "job %s/%s %s\n", job.Object.Namespace, job.Object.Name, job.Origin.Position(""))
	}
	for _, pod := range set.Pods {
		fmt.Fprintf(&out, "pod %s/%s %s\n", pod.Object.Namespace, pod.Object.Name, pod.Origin.Position(""))
	}
	for _, p := range set.Policies {
		fmt.Fprintf(&out, "policy %s %s %d rules", p.Object.Name, p.Origin.Position(""), len(p.Object.Spec.Rules))
		for _, r := range p.Object.Spec.Rules {
			fmt.Fprintf(&out, ", on %s, per %s", r.Phase, r.Budget.Per)
		}
		fmt.Fprintln(&out)
	}
	for _, b := range set.Bindings {
		fmt.Fprintf(&out, "binding %s %s %s %s\n", b.Object.Name, b.Origin.Position(""), b.Object.Spec.Position, b.Object.Spec.Mode)
	}
	for _, n := range set.Namespaces {
		fmt.Fprintf(&out, "namespace %s %s\n", n.Object.Name, n.Origin.Position(""))
	}
	return out.String()
}
