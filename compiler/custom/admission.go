package custom

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// CheckAdmission is a check that only ForAdmission reports: the condition would have a different
// meaning in an admission policy.
const CheckAdmission = "not-at-admission"

// AdmittedObject is a kind of object that an admission policy matches. It describes how to rewrite
// a match condition, which refers to a Job, for such an object.
type AdmittedObject struct {
	kind string
	// spec replaces job in job.spec.
	spec string
	// metadata holds the replacements for job in job.metadata, keyed by the field that follows. The
	// object lacks the other fields, has not set them yet, or they change while the Job runs.
	metadata map[string]string
	// unset lists the Job spec fields that the API server has not set in the object.
	unset []string
}

// The kinds of objects that create Jobs or become Jobs.
var (
	// AdmittedJob is a Job in its creation request. The API server has already set its defaults.
	AdmittedJob = AdmittedObject{
		kind: "Job", spec: admitted,
		metadata: map[string]string{
			"name": admitted, "generateName": admitted, "namespace": admitted, "uid": admitted,
			"labels": admitted, "annotations": admitted, "ownerReferences": admitted, "finalizers": admitted,
		},
	}
	// AdmittedCronJob is a CronJob. Its Jobs have the labels, annotations and spec of its template,
	// in which a Job's defaults are not set.
	AdmittedCronJob = AdmittedObject{
		kind: "CronJob", spec: admittedTemplate,
		metadata: map[string]string{"labels": admittedTemplate, "annotations": admittedTemplate, "namespace": admitted},
		unset: []string{
			"backoffLimit", "completionMode", "completions", "manualSelector", "parallelism", "podReplacementPolicy", "selector", "suspend",
		},
	}
)

const (
	admitted         = "object"
	admittedTemplate = "object.spec.jobTemplate"
)

// ForAdmission rewrites a policy's match conditions as match conditions of an admission policy for
// objects of a kind. They match the same Jobs: only the name of the Job is replaced. A condition
// that cannot be rewritten is a finding of an *Error.
func ForAdmission(e *compiler.Environment, spec *v1alpha1.PodFailurePolicySpec, to AdmittedObject) ([]v1alpha1.MatchCondition, error) {
	untyped, err := e.MatchConditions.Extend(cel.Variable(admitted, types.DynType))
	if err != nil {
		return nil, fmt.Errorf("cel environment of kubernetes %s: %w", e.Kubernetes, err)
	}
	var findings []compiler.Finding
	conditions := make([]v1alpha1.MatchCondition, len(spec.MatchConditions))
	for i, m := range spec.MatchConditions {
		p := conditionPlace(i, m.Expression)
		checked, issues := e.MatchConditions.Compile(m.Expression)
		if issues.Err() != nil {
			findings = append(findings, p.syntax(issues.Errors()))
			continue
		}
		t := newConditionRewriter(p, checked.NativeRep(), to)
		conditions[i] = v1alpha1.MatchCondition{Name: m.Name, Expression: asBool(untyped, t.text())}
		findings = append(findings, t.findings...)
	}
	if len(findings) > 0 {
		return nil, &Error{findings}
	}
	return conditions, nil
}

// asBool returns the condition in a form that has type bool even for an API server that does not
// know the types of an object's fields.
func asBool(untyped *cel.Env, text string) string {
	if checked, issues := untyped.Compile(text); issues.Err() != nil || checked.OutputType().IsExactType(types.BoolType) {
		return text
	}
	if strings.Contains(text, "//") {
		text += "\n" // ends the comment
	}
	return "(" + text + ") == true"
}

// conditionRewriter rewrites a condition for an admission policy.
type conditionRewriter struct {
	place place
	tree  *ast.AST
	to    AdmittedObject
	// around maps a node's id to its parent node.
	around map[int64]ast.Expr
	// names maps positions in the text, in characters, to the names that replace the Job's name.
	names    map[int32]string
	findings []compiler.Finding
}

func newConditionRewriter(p place, tree *ast.AST, to AdmittedObject) *conditionRewriter {
	t := &conditionRewriter{place: p, tree: tree, to: to, around: map[int64]ast.Expr{}, names: map[int32]string{}}
	Visit(tree.Expr(), nil, func(e ast.Expr, locals []string) {
		for _, child := range children(e) {
			t.around[child.ID()] = e
		}
		t.checkTexts(e)
		t.checkObjects(e)
		if e.Kind() == ast.IdentKind && e.AsIdent() == compiler.JobVariable && !slices.Contains(locals, compiler.JobVariable) {
			t.renameJob(e, locals)
		}
	})
	return t
}

// text returns the condition with the replaced names.
func (t *conditionRewriter) text() string {
	var b strings.Builder
	after := int32(0)
	for at, r := range []rune(t.place.text) {
		if name, ok := t.names[int32(at)]; ok {
			b.WriteString(name)
			after = int32(at + len(compiler.JobVariable))
		}
		if int32(at) >= after {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// renameJob determines the name that replaces the Job's name at one position in the condition.
func (t *conditionRewriter) renameJob(e ast.Expr, locals []string) {
	at, found := t.tree.SourceInfo().GetOffsetRange(e.ID())
	if !found || slices.Contains(locals, admitted) {
		t.report(e, "an admission policy calls the Job object, which is the name of a loop's variable here", "give that variable another name")
		return
	}
	t.names[at.Start] = admitted
	part := t.selection(e)
	field := t.selection(part)
	switch fieldOf(part) {
	case "spec":
		t.names[at.Start] = t.to.spec
		if name := fieldOf(field); slices.Contains(t.to.unset, name) {
			t.report(field, fmt.Sprintf("a %s may lack %s, which the API server sets in its Jobs", t.to.kind, name), "")
		}
	case "metadata":
		name, known := t.to.metadata[fieldOf(field)]
		if !known {
			t.reportUnknown(e, field)
			return
		}
		t.names[at.Start] = name
	default:
		t.reportUnknown(e, part)
	}
}

// reportUnknown reports a Job field that the admission policy cannot read.
func (t *conditionRewriter) reportUnknown(e, field ast.Expr) {
	why := "a Job is created, or changes later"
	if t.to.kind == AdmittedCronJob.kind {
		why = "a CronJob is created: its Jobs get theirs later"
	}
	t.report(e, brief(Unparse(t.tree, field))+" is not known when "+why, "")
}

// selection returns the parent node if it selects a field of e, and otherwise e itself.
func (t *conditionRewriter) selection(e ast.Expr) ast.Expr {
	if outer := t.around[e.ID()]; outer != nil && fieldOf(outer) != "" && operandOf(outer).ID() == e.ID() {
		return outer
	}
	return e
}

// fieldOf returns the name of the field that a node selects, or an empty string.
func fieldOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName()
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.OptSelect && call.Args()[1].Kind() == ast.LiteralKind {
			name, _ := call.Args()[1].AsLiteral().(types.String)
			return string(name)
		}
	default:
	}
	return ""
}

// texts lists the types whose values are strings in an admission policy.
var texts = []types.Kind{types.TimestampKind, types.DurationKind, types.BytesKind}

// checkTexts reports fields that are strings in an admission policy.
func (t *conditionRewriter) checkTexts(e ast.Expr) {
	typ := t.tree.GetType(e.ID())
	if isOptional(typ) {
		typ = typ.Parameters()[0]
	}
	if fieldOf(e) != "" && slices.Contains(texts, typ.Kind()) {
		t.report(e, brief(Unparse(t.tree, e))+" is a string in admission policies, and not what it is here", "")
	}
}

// checkObjects reports parts of the Job that lose their type: in an admission policy they are maps.
func (t *conditionRewriter) checkObjects(e ast.Expr) {
	if e.Kind() != ast.CallKind || !slices.Contains([]string{"dyn", "type", "format"}, e.AsCall().FunctionName()) {
		return
	}
	for _, arg := range e.AsCall().Args() {
		if hasObject(t.tree.GetType(arg.ID())) {
			t.report(arg, fmt.Sprintf("%s is a map in admission policies, and no object as here: %s() tells them apart",
				brief(Unparse(t.tree, arg)), e.AsCall().FunctionName()), "")
		}
	}
}

// hasObject reports whether values of a type are or contain objects.
func hasObject(t *types.Type) bool {
	return t.Kind() == types.StructKind || slices.ContainsFunc(t.Parameters(), hasObject)
}

func (t *conditionRewriter) report(e ast.Expr, message, advice string) {
	f := t.place.err(CheckAdmission, t.place.locate(t.tree, e), message, advice)
	if !slices.Contains(t.findings, f) { // the expansion of a macro can contain a part twice
		t.findings = append(t.findings, f)
	}
}
