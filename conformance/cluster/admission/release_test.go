//go:build cluster

package admission

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/oldserver"
)

// lacks reports whether the API server is too old for a vector.
func (s *server) lacks(v vectors.JobVector) bool {
	return v.Since != "" && s.version.LessThan(version.MustParseGeneric(v.Since))
}

// today returns the findings of the newest API server where this one reports got, if they differ in a way listed by
// package oldserver.
func (s *server) today(v vectors.JobVector, got []vectors.Finding) []vectors.Finding {
	if s.version.LessThan(oldserver.JSONValues) {
		for i := range got {
			got[i] = withValue(got[i], v.Want)
		}
	}
	if v.OldObject != nil && v.Object["kind"] == "Job" && s.version.LessThan(oldserver.UpdatesOnce) {
		got = oldserver.Once(got)
	}
	spec, _ := v.OldObject["spec"].(map[string]any)
	for _, d := range oldserver.Differences(s.version) {
		if !d.Suspended || spec["suspend"] == true {
			got = translate(d, v.Want, got)
		}
	}
	return got
}

// withValue returns a finding with the message of a wanted one, if they differ only in the value.
func withValue(f vectors.Finding, wanted []vectors.Finding) vectors.Finding {
	i := slices.IndexFunc(wanted, func(w vectors.Finding) bool {
		return w.Field == f.Field && w.Type == f.Type && strings.HasSuffix(f.Message, ": "+w.Detail)
	})
	if i >= 0 {
		f.Message = wanted[i].Message
	}
	return f
}

// translate replaces the findings of older API servers with the wanted findings of newer ones.
func translate(d oldserver.Difference, wanted, got []vectors.Finding) []vectors.Finding {
	old := slices.IndexFunc(got, func(f vectors.Finding) bool { // the detail is only part of the message
		i := strings.Index(f.Message, ": "+d.Said)
		return i >= 0 && d.IsOld(f.Field, f.Message[i+2:])
	})
	today := slices.IndexFunc(wanted, func(f vectors.Finding) bool { return d.IsNew(f.Field, f.Detail) })
	if (d.Said != "" && old < 0) || (d.Says != "" && (today < 0 || slices.ContainsFunc(got, func(f vectors.Finding) bool { return f.Message == wanted[today].Message }))) {
		return got
	}
	if old >= 0 {
		got = slices.Delete(got, old, old+1)
	}
	if today >= 0 {
		got = append(got, wanted[today])
	}
	return got
}
