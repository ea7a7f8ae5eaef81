// Package oldserver describes how API servers of older Kubernetes versions report errors about Jobs.
package oldserver

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

var (
	// JSONValues is the first version that shows values in errors as JSON; earlier API servers use Go's syntax.
	JSONValues = version.MajorMinor(1, 34)
	// UpdatesOnce is the first version that reports each error in an update of a Job once. Earlier API servers validate the
	// Job by itself and again as part of the update.
	UpdatesOnce = version.MajorMinor(1, 37)
)

// A Difference is an error about Jobs that older API servers report differently from newer ones.
type Difference struct {
	// Name is a sentence about the older servers.
	Name string
	// Before is the first version without the difference.
	Before *version.Version
	// Field is the end of the error's field path.
	Field string
	// Said is the beginning of the error's detail in older servers, and Says in newer ones. Empty means that they report
	// no error.
	Said, Says string
	// Suspended limits the difference to updates of suspended Jobs.
	Suspended bool
}

// The differences in validation.
var differences = []Difference{
	{
		Name: "a condition in a CronJob's policy needs a status", Before: version.MajorMinor(1, 34),
		Field: "].status", Said: "valid values",
	},
	{
		Name: "completionTime before startTime has other words", Before: version.MajorMinor(1, 34),
		Field: "status.completionTime", Said: "completionTime cannot be set before startTime", Says: "must be equal to or after `startTime`",
	},
	{
		Name: "uncountedTerminatedPods of a finished Job has other words", Before: version.MajorMinor(1, 34),
		Field: "status.uncountedTerminatedPods", Said: "uncountedTerminatedPods needs to be empty", Says: "must be empty",
	},
	{
		Name: "completionTime that changes has other words", Before: version.MajorMinor(1, 34),
		Field: "status.completionTime", Said: "completionTime cannot be mutated", Says: "field is immutable",
	},
	{
		Name: "the type of a condition is called a qualified name", Before: version.MajorMinor(1, 35),
		Field: "].type", Said: "a qualified name must", Says: "a valid label key must",
	},
	{
		Name: "the name in a condition's type has so many characters, not bytes", Before: version.MajorMinor(1, 35),
		Field: "].type", Said: "name part must be no more than 63 characters", Says: "name part must be no more than 63 bytes",
	},
	{
		Name: "the domain of a condition's type has so many characters, not bytes", Before: version.MajorMinor(1, 35),
		Field: "].type", Said: "prefix part must be no more than 253 characters", Says: "prefix part must be no more than 253 bytes",
	},
	{
		Name: "startTime that changes is a missing value", Before: version.MajorMinor(1, 36),
		Field: "status.startTime", Said: "startTime cannot be removed", Says: "field is immutable",
	},
	{
		Name:   "the template of a suspended Job does not change, but for scheduling directives before its first start",
		Before: kubeversion.MutableTemplates, Field: "spec.template", Said: "field is immutable", Suspended: true,
	},
	{
		Name:   "what may not change in the template of a suspended Job is told of all of it",
		Before: kubeversion.MutableTemplates, Field: "spec.template.spec", Says: "field is immutable", Suspended: true,
	},
	{
		Name:   "scheduling directives of a suspended Job that has not started change even while Pods are active",
		Before: kubeversion.MutableTemplates, Field: "spec.template", Says: "field is immutable", Suspended: true,
	},
}

// Differences returns the differences between a version and the newest.
func Differences(v *version.Version) []Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return v.AtLeast(d.Before) })
}

// IsOld reports whether older API servers report this error.
func (d Difference) IsOld(field, detail string) bool { return d.is(d.Said, field, detail) }

// IsNew reports whether newer API servers report this error.
func (d Difference) IsNew(field, detail string) bool { return d.is(d.Says, field, detail) }

func (d Difference) is(said, field, detail string) bool {
	return said != "" && strings.HasSuffix(field, d.Field) && strings.HasPrefix(detail, said)
}

// Once removes every second occurrence of an element from a list. Before UpdatesOnce, API servers report each error of a
// Job's update twice.
func Once[T comparable](list []T) []T {
	seen := map[T]int{}
	return slices.DeleteFunc(slices.Clone(list), func(element T) bool {
		seen[element]++
		return seen[element]%2 == 0
	})
}
