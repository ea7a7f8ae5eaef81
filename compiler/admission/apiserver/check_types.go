package apiserver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

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

// typeProblems returns what the API server's type checker finds in the expressions of a
// policy when the object is of one kind.
func typeProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy, object kind.Kind, params *kind.Kind) ([]Problem, error) {
	hints, err := newHinter(object, params)
	if err != nil {
		return nil, err
	}
	kinds := kindSet{object}
	if params != nil {
		kinds = append(kinds, *params)
	}
	checker := &validating.TypeChecker{SchemaResolver: kinds, RestMapper: kinds.mapper()}
	context := checker.CreateContext(policy)
	var problems []Problem
	for _, e := range failing(expressionsOf(policy).texts(), func(some []located) bool {
		return len(checker.CheckExpression(context, together(some))) > 0
	}) {
		for _, result := range checker.CheckExpression(context, e.text) {
			if result.Err != nil {
				return nil, result.Err
			}
			problems = append(problems, printedProblems(e, result.Issues.Error())...)
		}
	}
	for i := range problems {
		problems[i].Hint = hints.hint(problems[i])
	}
	return problems, nil
}

// kindSet is all that the type checker knows of an API server's kinds.
type kindSet []kind.Kind

// ResolveSchema returns the schema of a kind.
func (s kindSet) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	for _, k := range s {
		if k.GroupVersionKind == gvk {
			return k.Schema, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", gvk, resolver.ErrSchemaNotFound)
}

// mapper tells which kind belongs to a resource.
func (s kindSet) mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range s {
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		resource := k.GroupVersion().WithResource(k.Resource)
		mapper.AddSpecific(k.GroupVersionKind, resource, k.GroupVersion().WithResource(strings.ToLower(k.Kind)), scope)
	}
	return mapper
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
