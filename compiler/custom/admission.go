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

// CheckAdmission is a check of ForAdmission alone: the condition would mean something
// else in an admission policy.
const CheckAdmission = "not-at-admission"

// AdmittedObject is a kind of objects that an admission policy is asked about. It says
// how to read a match condition, which is about a Job, in terms of such an object.
type AdmittedObject struct {
	kind string
	// spec is what job stands for in job.spec.
	spec string
	// metadata is what job stands for in job.metadata, by the field that follows. The
	// object does not have the other fields, or not yet, or they change while the Job
	// runs.
	metadata map[string]string
	// unset are the fields of a Job's spec that the API server has not set there.
	unset []string
}

// The objects that Jobs come from.
var (
	// AdmittedJob is a Job that is about to be created. The API server has set its
	// defaults.
	AdmittedJob = AdmittedObject{
		kind: "Job", spec: admitted,
		metadata: map[string]string{
			"name": admitted, "generateName": admitted, "namespace": admitted, "uid": admitted,
			"labels": admitted, "annotations": admitted, "ownerReferences": admitted, "finalizers": admitted,
		},
	}
	// AdmittedCronJob is a CronJob. Its Jobs have the labels, annotations and spec of its
	// template, in which nobody has set a Job's defaults.
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

// ForAdmission returns a policy's match conditions as conditions of an admission policy
// for objects of a kind, true of the same Jobs: the same text with the name that the Job
// has there. A condition that cannot be written so is a finding of an *Error.
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

// asBool returns the condition in a form that is a bool for an API server that does not
// know the types of an object's fields.
func asBool(untyped *cel.Env, text string) string {
	if checked, issues := untyped.Compile(text); issues.Err() != nil || checked.OutputType().IsExactType(types.BoolType) {
		return text
	}
	if strings.Contains(text, "//") {
		text += "\n" // which ends the comment
	}
	return "(" + text + ") == true"
}

// conditionRewriter rewrites a condition for an admission policy.
type conditionRewriter struct {
	place place
	tree  *ast.AST
	to    AdmittedObject
	// around maps a node to the node that it is part of.
	around map[int64]ast.Expr
	// names replace the Job's name, by the position in the text, in characters.
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

// text returns the condition with the names in their places.
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

// renameJob finds the name that stands for the Job at one place of the condition.
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

// reportUnknown reports a field of the Job that the admission policy cannot ask for.
func (t *conditionRewriter) reportUnknown(e, field ast.Expr) {
	why := "a Job is created, or changes later"
	if t.to.kind == AdmittedCronJob.kind {
		why = "a CronJob is created: its Jobs get theirs later"
	}
	t.report(e, brief(Unparse(t.tree, field))+" is not known when "+why, "")
}

// selection returns the node that selects a field of this one, or this one if there is
// none.
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

// texts are types whose values an admission policy has as strings.
var texts = []types.Kind{types.TimestampKind, types.DurationKind, types.BytesKind}

// checkTexts reports fields that an admission policy has as strings.
func (t *conditionRewriter) checkTexts(e ast.Expr) {
	typ := t.tree.GetType(e.ID())
	if isOptional(typ) {
		typ = typ.Parameters()[0]
	}
	if fieldOf(e) != "" && slices.Contains(texts, typ.Kind()) {
		t.report(e, brief(Unparse(t.tree, e))+" is a string in admission policies, and not what it is here", "")
	}
}

// checkObjects reports parts of the Job that lose their type: an admission policy has maps in
// their place.
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

// hasObject reports whether values of a type are objects or contain some.
func hasObject(t *types.Type) bool {
	return t.Kind() == types.StructKind || slices.ContainsFunc(t.Parameters(), hasObject)
}

func (t *conditionRewriter) report(e ast.Expr, message, advice string) {
	f := t.place.err(CheckAdmission, t.place.locate(t.tree, e), message, advice)
	if !slices.Contains(t.findings, f) { // macros have parts twice
		t.findings = append(t.findings, f)
	}
}
