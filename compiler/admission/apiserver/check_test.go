package apiserver

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// check calls Check for a policy of testdata with the kind that it matches.
func check(t testing.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy, kubernetes string) error {
	t.Helper()
	switch policy.Spec.MatchConstraints.ResourceRules[0].Resources[0] {
	case "tasksets":
		return Check(policy, readCRD(t, "taskset.yaml"), kubernetes)
	case "cronjobs":
		return Check(policy, MustKind(t, kind.CronJob), kubernetes)
	case "jobs":
		return Check(policy, MustKind(t, kind.Job), kubernetes)
	}
	t.Fatal("the policy is for another kind")
	return nil
}

func TestCheckAcceptsGoodPolicies(t *testing.T) {
	for _, file := range []string{"job.yaml", "cronjob.yaml", "single.yaml", "crd.yaml"} {
		if err := check(t, ReadPolicy(t, file), "1.37"); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestCheckSaysWhatIsWrongAndWhere checks every kind of expression with every kind of error.
func TestCheckSaysWhatIsWrongAndWhere(t *testing.T) {
	for name, test := range map[string]struct {
		file, from, to string
		want           string
	}{
		"field, validation": {
			"job.yaml", "object.spec.backoffLimit <=", "object.spec.backofLimit <=",
			`spec.validations[0].expression:1:12: undefined field 'backofLimit', did you mean "backoffLimit"?
 | object.spec.backofLimit <= 10
 | ...........^`,
		},
		"field, message": {
			"crd.yaml", "object.spec.?note.", "object.spec.?notes.",
			`spec.validations[0].messageExpression:1:49: undefined field 'notes', did you mean "note"?
 | "at most " + string(10) + ", and " + object.spec.?notes.orValue("no note")
 | ................................................^`,
		},
		"field, match condition": {
			"job.yaml", "object.metadata.?labels", "object.metadata.?lables",
			`spec.matchConditions[0].expression:1:30: undefined field 'lables', did you mean "labels"?
 | !("exempt" in object.metadata.?lables.orValue({}))
 | .............................^`,
		},
		"field, variable": {
			"job.yaml", "object.spec.?podFailurePolicy", "object.spec.?podFailPolicy",
			`spec.variables[0].expression:1:12: undefined field 'podFailPolicy', did you mean "podFailurePolicy"?
 | object.spec.?podFailPolicy.?rules.orValue([])
 | ...........^`,
		},
		"field, audit annotation": {
			"job.yaml", `string(size(variables.rules))`, `string(object.metadata.nam)`,
			`spec.auditAnnotations[0].valueExpression:1:51: undefined field 'nam', did you mean "name"?
 | size(variables.rules) > 0 ? string(object.metadata.nam) : ""
 | ..................................................^`,
		},
		"field of a list's element": {
			"crd.yaml", "e.?template.?spec", "e.?template.?specs",
			`spec.variables[0].expression:1:63: undefined field 'specs', did you mean "spec"?
 | object.spec.?tasks.orValue([]).transformList(i, e, e.?template.?specs.hasValue(), e.template.spec)
 | ..............................................................^`,
		},
		"field of many": {
			"job.yaml", "object.spec.backoffLimit <=", "object.spec.xyz <=",
			`spec.validations[0].expression:1:12: undefined field 'xyz', there are activeDeadlineSeconds, backoffLimit, ` +
				`backoffLimitPerIndex, completionMode, completions, managedBy, manualSelector, maxFailedIndexes, parallelism, ` +
				`podFailurePolicy, podReplacementPolicy, scheduling, selector, successPolicy, suspend, template, ttlSecondsAfterFinished
 | object.spec.xyz <= 10
 | ...........^`,
		},
		"field of the request": {
			"cronjob.yaml", "request.operation", "request.operatoin",
			`spec.validations[1].expression:1:8: undefined field 'operatoin', did you mean "operation"?
 | request.operatoin != "UPDATE" || oldObject.spec.schedule == object.spec.schedule
 | .......^`,
		},
		"no such variable": {
			"job.yaml", "variables.rules.filter", "variables.rule.filter",
			`spec.variables[1].expression:1:10: undefined field 'rule'
 | variables.rule.filter(r, r.action == "Count")
 | .........^`,
		},
		"no such function": {
			"job.yaml", "size(variables.counted)", "sise(variables.counted)",
			`spec.validations[1].expression:1:5: undeclared reference to 'sise' (in container ''), did you mean "size"?
 | sise(variables.counted) == 0
 | ....^`,
		},
		"a function that this version lacks": {
			"cronjob.yaml", "variables.spec.?backoffLimit", "size([2, 1].sort()) > 0 || variables.spec.?backoffLimit",
			`spec.validations[0].expression:1:17: undeclared reference to 'sort' (in container ''), new policies can use it from Kubernetes 1.35 on
 | size([2, 1].sort()) > 0 || variables.spec.?backoffLimit.orValue(6) <= 10
 | ................^`,
		},
		"variables in a match condition": {
			"job.yaml", `!("exempt" in object.metadata.?labels.orValue({}))`, `size(variables.rules) > 0`,
			`spec.matchConditions[0].expression:1:6: undeclared reference to 'variables' (in container ''), match conditions see no variables
 | size(variables.rules) > 0
 | .....^`,
		},
		"authorizer in a message": {
			"job.yaml", `string(object.spec.backoffLimit)`, `authorizer.path("/").check("get").reason()`,
			`spec.validations[0].messageExpression:1:47: undeclared reference to 'authorizer' (in container ''), messages see no authorizer
 | "spec.backoffLimit must be at most 10, is " + authorizer.path("/").check("get").reason()
 | ..............................................^`,
		},
		"types": {
			"job.yaml", "object.spec.backoffLimit <= 10", `object.spec.backoffLimit <= "10"`,
			`spec.validations[0].expression:1:26: found no matching overload for '_<=_' applied to '(int, string)'
 | object.spec.backoffLimit <= "10"
 | .........................^`,
		},
		"syntax": {
			"job.yaml", "object.spec.backoffLimit <= 10", "object.spec.backoffLimit <= (10",
			`spec.validations[0].expression:1:32: Syntax error: missing ')' at '<EOF>'
 | object.spec.backoffLimit <= (10
 | ...............................^`,
		},
		"type of a validation":      {"job.yaml", "backoffLimit <= 10", "backoffLimit", "spec.validations[0].expression: must evaluate to bool but got dyn"},
		"type of a match condition": {"job.yaml", `!("exempt" in object.metadata.?labels.orValue({}))`, "object.metadata.name", "spec.matchConditions[0].expression: must evaluate to bool but got dyn"},
		"type of a message":         {"cronjob.yaml", `'"spec.schedule: was " + oldObject.spec.schedule'`, `'1'`, "spec.validations[1].messageExpression: must evaluate to string but got int"},
		"type of an annotation":     {"job.yaml", `string(size(variables.rules)) : ""`, `1 : 2`, "spec.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(t, ReadPolicy(t, test.file, test.from, test.to), "1.34")
			if _, ok := errors.AsType[*CheckError](err); !ok {
				t.Fatalf("got error %v, want a *CheckError", err)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckOfVersions(t *testing.T) {
	sorting := ReadPolicy(t, "cronjob.yaml", "variables.spec.?backoffLimit", "size([2, 1].sort()) > 0 || variables.spec.?backoffLimit")
	if err := check(t, sorting, "1.35"); err != nil {
		t.Error(err)
	}
	if err := check(t, sorting, "1.99"); err == nil || !strings.Contains(err.Error(), `"1.99"`) {
		t.Errorf("got error %v, want one of version 1.99", err)
	}
}

// TestCheckIsLenientWithVariablesOfCustomResources checks that a field which a custom resource lacks is not reported
// if it is selected from a variable: expressions are written for many definitions of an embedded Job.
func TestCheckIsLenientWithVariablesOfCustomResources(t *testing.T) {
	policy := ReadPolicy(t, "crd.yaml", "s.?backoffLimit", "s.?podReplacementPolicy.hasValue() || s.?backoffLimit")
	if err := check(t, policy, "1.37"); err != nil {
		t.Error(err)
	}
}

// schemaOf resolves the schema of one kind.
type schemaOf kind.Kind

func (k schemaOf) ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error) { return k.Schema, nil }

// TestTypeProblemsAreTheAPIServers checks that Check reports everything that the API server's own type checker
// reports, and also mistakes in match conditions.
func TestTypeProblemsAreTheAPIServers(t *testing.T) {
	policy := ReadPolicy(t, "job.yaml",
		"object.spec.backoffLimit <=", "object.spec.backofLimit <=",
		"string(object.spec.backoffLimit)", "string(object.spec.backofLimit)",
		"object.metadata.?labels", "object.metadata.?lables")
	policy.Spec.Validations[2].Expression += " // a comment ends with the line"
	job := MustKind(t, kind.Job)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(job.GroupVersionKind, meta.RESTScopeNamespace)
	var want []string
	for _, warning := range (&validating.TypeChecker{SchemaResolver: schemaOf(job), RestMapper: mapper}).Check(policy) {
		want = append(want, warning.FieldRef)
	}
	if want = append(want, "spec.matchConditions[0].expression"); len(want) != 3 { // the API server does not type-check match conditions
		t.Fatalf("the API server warns of %v only", want)
	}
	invalid, ok := errors.AsType[*CheckError](check(t, policy, "1.37"))
	if !ok {
		t.Fatal("want a *CheckError")
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.FieldRef)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestCheckOfTheObjectItself(t *testing.T) {
	for _, test := range []struct {
		change func(*admissionregistrationv1.ValidatingAdmissionPolicy)
		want   string
	}{
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Name = "Bad_Name" }, "metadata.name: Invalid value: \"Bad_Name\""},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Labels = map[string]string{"a b": ""} }, "metadata.labels: Invalid value: \"a b\""},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConditions[0].Name = "" }, "spec.matchConditions[0].name: Invalid value: \"\""},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConditions[0].Name = "a b" }, `spec.matchConditions[0].name: Invalid value: "a b"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConditions = append(p.Spec.MatchConditions, p.Spec.MatchConditions[0])
		}, `spec.matchConditions[1].name: Duplicate value: "not-exempt"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConditions = make([]admissionregistrationv1.MatchCondition, 65)
		}, "spec.matchConditions: Too many: 65: must have at most 64 items"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConditions[0].Expression = " " }, "spec.matchConditions[0].expression: Required value"},
	} {
		policy := ReadPolicy(t, "job.yaml")
		test.change(policy)
		err := check(t, policy, "1.37")
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return strings.HasPrefix(line, test.want) }) {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"object.spec.backoffLimit <= 10", "variables.rules.all(r, has(r.action))", "object.spec.template.spec.container", "(", "", "x) + (y",
		"[1].map(x, x)", "// a comment alone", "/ 1 //", "object.?spec.?x.y", "\xff", "true // comment", "1 /* ", "'\n' + \n zzz", "a.b.c.d()", "\U0001f9ea.x", "params",
	} {
		f.Add(text)
	}
	policy, job := ReadPolicy(f, "job.yaml"), MustKind(f, kind.Job)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" {
			return // the compiler is not called for it
		}
		policy := policy.DeepCopy()
		policy.Spec.Validations[0].Expression = text
		err := Check(policy, job, "1.37")
		invalid, ok := errors.AsType[*CheckError](err)
		if err != nil && !ok {
			t.Fatalf("%q: %v", text, err)
		}
		if _, refused := NewMeter(policy); refused != nil && err == nil {
			t.Errorf("%q is right, but does not compile: %v", text, refused)
		}
		if err == nil {
			return
		}
		for _, p := range invalid.Problems {
			if text := p.String(); text == "" || p.FieldRef != "spec.validations[0].expression" || p.Line < 0 || p.Line > 0 && p.Column < 1 {
				t.Errorf("%q: odd place in %+v", text, p)
			}
		}
	})
}
