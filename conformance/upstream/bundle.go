package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// Finding is a fault with the id of the violated constraint.
type Finding struct {
	ID string
	release.Fault
}

// Bundle is the Rego bundle of package policies. It is safe for concurrent use.
type Bundle struct{ job, status *rego.Validator }

// NewBundle compiles the bundle.
func NewBundle(ctx context.Context) (*Bundle, error) {
	job, err1 := rego.New(ctx, rego.Options{Warnings: true})
	status, err2 := rego.New(ctx, rego.Options{Status: true})
	return &Bundle{job, status}, errors.Join(err1, err2)
}

// Constraints returns the ids of the constraints that submissions can violate, in writes to the status or in others. It
// omits F15, which the API server's defaults prevent, and the status constraints that upstream does not enforce.
func Constraints(status bool) ([]string, error) {
	folder := map[bool]string{true: "jobstatus", false: "job"}[status]
	rules, err := policies.Rules()
	var ids []string
	for _, rule := range rules {
		if rule.Folder == folder && rule.ID != "F15" && !strings.HasPrefix(rule.ID, "SN") {
			ids = append(ids, rule.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// Findings returns the bundle's findings for a submission, including warnings.
func (b *Bundle) Findings(ctx context.Context, s release.Submission) ([]Finding, error) {
	validator := b.job
	if s.Status {
		validator = b.status
	}
	var object, old map[string]any
	if err := json.Unmarshal(s.Object, &object); err != nil {
		return nil, err
	}
	if s.Old != nil {
		if err := json.Unmarshal(s.Old, &old); err != nil {
			return nil, err
		}
	}
	said, err := validator.Validate(ctx, object, old)
	findings := make([]Finding, len(said))
	for i, f := range said {
		findings[i] = Finding{f.ID, release.Fault{Field: f.Field, Type: f.Type, Detail: f.Detail, Message: f.Message}}
	}
	return findings, err
}
