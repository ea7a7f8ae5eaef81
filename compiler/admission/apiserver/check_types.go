package apiserver

import (
	"regexp"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// located is an expression and its place in a policy.
type located struct {
	fieldRef, text string
}

// texts are all expressions that are not blank.
func (x expressions) texts() []located {
	var all []located
	add := func(a plugincel.ExpressionAccessor) {
		if a != nil && strings.TrimSpace(a.GetExpression()) != "" {
			all = append(all, located{fieldRef: x.fields[a], text: a.GetExpression()})
		}
	}
	for _, v := range x.variables {
		add(v)
	}
	for _, group := range [][]plugincel.ExpressionAccessor{x.conditions, x.validations, x.messages, x.auditAnnotations} {
		for _, a := range group {
			add(a)
		}
	}
	return all
}

// typeProblems are those that the API server's type checker has with expressions of a
// policy when the object is of one kind. Of the policy, only the variables and the kind
// of the parameters matter.
func typeProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy, k kind.Kind, params *kind.Kind, texts []located) ([]Problem, error) {
	typed, err := newTypedEnvironment(policy, k, params)
	if err != nil {
		return nil, err
	}
	checker, context := newTypeChecker(policy, k, params)
	var problems []Problem
	for _, e := range failing(texts, func(some []located) bool {
		return len(checker.CheckExpression(context, together(some))) > 0
	}) {
		for _, result := range checker.CheckExpression(context, e.text) {
			if result.Err != nil {
				return nil, result.Err
			}
			problems = append(problems, printedProblems(e, result.Issues.Error())...)
		}
	}
	if k.BuiltIn {
		problems = append(problems, typed.problems(texts)...)
	}
	problems = distinct(problems)
	for i := range problems {
		problems[i].Kinds, problems[i].Hint = []string{k.Kind}, typed.hint(problems[i])
	}
	return problems, nil
}

// problems are those that the API server's type checker does not see, since it forgets
// the types of variables that hold objects. They are asked for only of kinds that are
// built in: it is no mistake to ask the object of a custom resource for a field that its
// definition leaves out, by a variable.
func (t *typedEnvironment) problems(texts []located) []Problem {
	var problems []Problem
	for _, e := range texts {
		_, errs := t.checked(e.text)
		problems = append(problems, celProblems(e.fieldRef, e.text, errs)...)
	}
	return problems
}

// newTypeChecker makes the API server's type checker, which knows these kinds only. It
// looks at one kind at a time, so that it never comes to its limit of ten.
func newTypeChecker(policy *admissionregistrationv1.ValidatingAdmissionPolicy, k kind.Kind, params *kind.Kind) (*validating.TypeChecker, *validating.TypeCheckingContext) {
	kinds := kindSet{k}
	if params != nil {
		kinds = append(kinds, *params)
	}
	checker := &validating.TypeChecker{SchemaResolver: kinds, RestMapper: kinds.mapper()}
	one := policy.DeepCopy()
	one.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{Rule: admissionregistrationv1.Rule{
				APIGroups: []string{k.Group}, APIVersions: []string{k.Version}, Resources: []string{k.Resource},
			}},
		}},
	}
	context := checker.CreateContext(one)
	return checker, context
}

// maxTogether bounds what is checked as one expression, in bytes: CEL does not parse
// more than 100,000 characters.
const maxTogether = 64 << 10

// failing are the expressions that fail, found by looking at many together: the type
// checker begins with all variables for every expression that it is given.
func failing(texts []located, fail func([]located) bool) []located {
	switch {
	case len(texts) == 0 || len(together(texts)) <= maxTogether && !fail(texts):
		return nil
	case len(texts) == 1:
		return texts
	}
	half := len(texts) / 2
	return append(failing(texts[:half], fail), failing(texts[half:], fail)...)
}

// together is one expression that is right if all of several are. Each stands on lines
// of its own, since it may end with a comment.
func together(texts []located) string {
	var b strings.Builder
	b.WriteString("[\n")
	for _, e := range texts {
		b.WriteString("dyn(\n" + e.text + "\n),\n")
	}
	b.WriteString("]")
	return b.String()
}

// printedIssue is how CEL prints an issue; the type checker hands out nothing else.
var printedIssue = regexp.MustCompile(`(?m)^ERROR: <input>:(\d+):(\d+): (.*)$`)

func printedProblems(e located, issues string) []Problem {
	var problems []Problem
	for _, match := range printedIssue.FindAllStringSubmatch(issues, -1) {
		line, _ := strconv.Atoi(match[1])
		column, _ := strconv.Atoi(match[2])
		column = max(column, 1) // it is 0 where the text ends too early
		problems = append(problems, Problem{FieldRef: e.fieldRef, Expression: e.text, Line: line, Column: column, Message: match[3]})
	}
	if len(problems) == 0 {
		problems = append(problems, Problem{FieldRef: e.fieldRef, Expression: e.text, Message: issues})
	}
	return problems
}
