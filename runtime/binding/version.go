package binding

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// Version is a version of a PodFailurePolicy, together with the version in effect: itself, or the last one that compiled.
type Version struct {
	UID        types.UID
	Generation int64
	// Findings are the compiler's findings, including errors if the version does not compile.
	Findings []compiler.Finding
	// Err is the error if the version does not compile, or nil.
	Err error

	// InForce is the version in effect, or nil.
	InForce *runtime.Policy
	// LastGood is the copy of InForce for the policy's status. It is nil if the spec is larger than v1alpha1.MaxLastGood
	// bytes.
	LastGood *v1alpha1.LastGood
	// InForceGeneration is the generation of InForce.
	InForceGeneration int64
	// LastGoodErr is the error of compiling the version in the policy's status, if that was attempted and failed.
	LastGoodErr error
}

// Compile returns the version of a policy, which must not change afterwards. The version before may be nil, or belong to
// another policy of the same name. Without it, the last good version comes from the policy's status.
func Compile(e *compiler.Environment, p *v1alpha1.PodFailurePolicy, before *Version) *Version {
	compiled, err := runtime.NewCustomPolicy(e, p)
	if err == nil {
		return &Version{
			UID: p.UID, Generation: p.Generation, Findings: compiled.Compiled.Warnings,
			InForce: compiled, InForceGeneration: p.Generation, LastGood: lastGood(p),
		}
	}
	v := Failed(p, before, err)
	if v.InForce != nil || p.Status.LastGood == nil { // the status may be older than the version before
		return v
	}
	if v.InForce, v.LastGoodErr = runtime.NewLastGood(e, p); v.LastGoodErr == nil {
		v.LastGood, v.InForceGeneration = p.Status.LastGood, p.Status.LastGood.Generation
	}
	return v
}

// Failed returns the version of a policy that does not compile because of err. The version in effect stays in effect.
func Failed(p *v1alpha1.PodFailurePolicy, before *Version, err error) *Version {
	v := &Version{UID: p.UID, Generation: p.Generation, Err: err}
	if refused, ok := errors.AsType[*custom.Error](err); ok {
		v.Findings = refused.Findings
	}
	if before != nil && before.UID == p.UID {
		v.InForce, v.InForceGeneration, v.LastGood = before.InForce, before.InForceGeneration, before.LastGood
	}
	return v
}

// Is reports whether v is the policy's current version. It returns false for nil.
func (v *Version) Is(p *v1alpha1.PodFailurePolicy) bool {
	return v != nil && v.UID == p.UID && v.Generation == p.Generation
}

func lastGood(p *v1alpha1.PodFailurePolicy) *v1alpha1.LastGood {
	text, err := json.Marshal(p.Spec)
	if err != nil || len(text) > v1alpha1.MaxLastGood {
		return nil
	}
	return &v1alpha1.LastGood{Generation: p.Generation, Spec: p.Spec}
}
