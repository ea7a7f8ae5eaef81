package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Target is a kind of objects and where the Jobs stand in them.
type Target struct {
	Kind kind.Kind
	At   kind.Embedded
}

// NewTarget finds the Jobs at a path in a kind: spec of a Job itself, spec.jobTemplate.spec of a CronJob, or wherever
// else an object embeds them. The errors are those of kind.ParsePath and kind.Kind.Resolve.
func NewTarget(k kind.Kind, path string) (Target, error) {
	p, err := kind.ParsePath(path)
	if err != nil {
		return Target{}, err
	}
	at, err := k.Resolve(p)
	return Target{Kind: k, At: at}, err
}

// many says that an object has a list of Jobs, that may be empty.
func (t Target) many() bool { return t.At.List || t.At.Optional }

// isJob says that the object is the Job, which the API server checks itself.
func (t Target) isJob() bool { return t.Kind.Group == "batch" && t.Kind.Kind == "Job" }

func (t Target) matchResources(of ...admissionregistrationv1.OperationType) *ac.MatchResourcesApplyConfiguration {
	return ac.MatchResources().WithResourceRules(ac.NamedRuleWithOperations().
		WithAPIGroups(t.Kind.Group).WithAPIVersions(t.Kind.Version).WithResources(t.Kind.Resource).
		WithOperations(of...))
}

// variables are the lists of the Jobs' specs and paths where there can be several, and whether something removes a Job
// where a rule asks for it.
func (t Target) variables(used map[string]bool) []*ac.VariableApplyConfiguration {
	var all []*ac.VariableApplyConfiguration
	if t.many() {
		all = append(all,
			ac.Variable().WithName("specs").WithExpression(t.At.Specs()),
			ac.Variable().WithName("roots").WithExpression(t.At.Roots()))
	}
	if t.isJob() && used["owned"] {
		all = append(all, ac.Variable().WithName("owned").
			WithExpression("object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))"))
	}
	return all
}

// meaning of the names that every catalogue is given.
func (t Target) meaning(ident string) string {
	switch {
	case ident == "metadata":
		return "object.metadata"
	case ident == "owned" && t.isJob():
		return "variables.owned"
	case ident == "owned":
		return "true"
	case ident == "old":
		return "oldObject.spec"
	case t.many() && ident == "root":
		return "variables.roots[n]"
	case t.many():
		return "spec"
	case ident == "root":
		return t.At.Roots()
	default:
		return t.At.Specs()
	}
}

// mutable are the fields of a Job that guardrails look at and that may change while it exists. What else may change,
// suspend and where Pods may run, is changed by controllers that are not to blame for the Job.
var mutable = []string{"activeDeadlineSeconds", "backoffLimit", "completions", "maxFailedIndexes", "parallelism", "ttlSecondsAfterFinished"}

// changed is true of a new object, and of one whose update changes what the catalogue looks at. Who made the object
// once, before there was a policy, can go on with it.
func (t Target) changed(c *Catalogue) string {
	if !t.isJob() || c.Name != "guardrails" {
		whole := "object.spec"
		if !t.many() {
			whole = t.At.Specs()
		}
		return fmt.Sprintf(`request.operation == "CREATE" || %s != %s`, whole, strings.Replace(whole, "object", "oldObject", 1))
	}
	differ := make([]string, len(mutable))
	for i, name := range mutable {
		differ[i] = fmt.Sprintf("object.spec.?%[1]s != oldObject.spec.?%[1]s", name)
	}
	return `request.operation == "CREATE" ||` + "\n" + strings.Join(differ, " ||\n")
}
