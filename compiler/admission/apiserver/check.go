package apiserver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Check holds a ValidatingAdmissionPolicy to what an API server of a Kubernetes minor
// version holds a new one to, and to more: all its expressions, not only validations,
// must be right for the types of every kind that it matches and of its parameters. The
// kinds are all that may be meant; a policy that names others cannot be checked, which
// is an error too. What is wrong with the policy is a *CheckError.
func Check(policy *admissionregistrationv1.ValidatingAdmissionPolicy, kinds []kind.Kind, kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	policy = defaulted(policy)
	problems := staticProblems(policy)
	matched, params, unknown := kindSet(kinds).of(policy)
	problems = append(problems, unknown...)

	var typed []Problem
	for _, k := range matched {
		found, err := typeProblems(policy, k, params, expressionsOf(policy).texts())
		if err != nil {
			return err
		}
		typed = append(typed, found...)
	}
	compiled, err := compileProblems(policy, v)
	if err != nil {
		return err
	}
	problems = append(problems, merged(typed, len(matched))...)
	problems = append(problems, slices.DeleteFunc(compiled, isBlank)...)
	return newCheckError(sorted(distinct(problems)))
}

// isBlank says that an expression is missing, which is a problem of the object itself.
func isBlank(p Problem) bool { return strings.TrimSpace(p.Expression) == "" }

// merged are the problems of all kinds, each once. Those that only some of several kinds
// have name the kinds.
func merged(problems []Problem, kinds int) []Problem {
	var all []Problem
	for _, p := range problems {
		same := func(q Problem) bool { return q.samePlace(p) && q.Message == p.Message }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Kinds = append(all[i].Kinds, p.Kinds...)
			continue
		}
		all = append(all, p)
	}
	for i := range all {
		if len(all[i].Kinds) == kinds {
			all[i].Kinds = nil
		}
	}
	return all
}

// distinct leaves out what the compiler says of places of which the type checker, which
// knows more, has said something before.
func distinct(problems []Problem) []Problem {
	var all []Problem
	for _, p := range problems {
		if !slices.ContainsFunc(all, func(q Problem) bool {
			return q.samePlace(p) && (p.Line > 0 && len(p.Kinds) == 0 || q.Message == p.Message)
		}) {
			all = append(all, p)
		}
	}
	return all
}

func (p Problem) samePlace(q Problem) bool {
	return p.FieldRef == q.FieldRef && p.Line == q.Line && p.Column == q.Column
}

// order is that of the parts of a policy: what others build on comes first.
var order = []string{
	"metadata", "spec.failurePolicy", "spec.paramKind", "spec.matchConstraints", "spec.matchConditions", "spec.variables",
	"spec.validations", "spec.mutations", "spec.auditAnnotations",
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(p, q Problem) int {
		partP, indexP := place(p.FieldRef)
		partQ, indexQ := place(q.FieldRef)
		return cmp.Or(cmp.Compare(partP, partQ), cmp.Compare(indexP, indexQ), cmp.Compare(p.FieldRef, q.FieldRef),
			cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column), cmp.Compare(p.Message, q.Message))
	})
	return problems
}

// place is the part of a policy that a field belongs to, and its first index.
func place(fieldRef string) (part, index int) {
	part = slices.IndexFunc(order, func(prefix string) bool { return strings.HasPrefix(fieldRef, prefix) })
	if _, rest, ok := strings.Cut(fieldRef, "["); ok {
		digits, _, _ := strings.Cut(rest, "]")
		index, _ = strconv.Atoi(digits) // a key of a map has no order
	}
	return part, index
}
