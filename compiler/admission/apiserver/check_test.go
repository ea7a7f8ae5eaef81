package apiserver

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// allKinds are those that the policies of testdata name.
func allKinds(t testing.TB) []kind.Kind {
	t.Helper()
	return []kind.Kind{mustKind(t, kind.Job), mustKind(t, kind.CronJob), mustKind(t, kind.ConfigMap), readCRD(t, "taskset.yaml"), readCRD(t, "limit.yaml")}
}

func TestCheckAcceptsGoodPolicies(t *testing.T) {
	for _, file := range []string{"job.yaml", "cronjob.yaml", "configmap.yaml", "crd.yaml"} {
		if err := Check(readPolicy(t, file), allKinds(t), "1.36"); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Every kind of expression is checked, in all the ways in which it can be wrong.
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
			`spec.validations[0].messageExpression:1:70: undefined field 'notes', did you mean "note"?
 | "at most " + string(params.?max.orValue(10)) + ", and " + object.spec.?notes.orValue("no note")
 | .....................................................................^`,
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
		"field of parameters": {
			"crd.yaml", "<= params.?max", "<= params.?maximum",
			`spec.validations[0].expression:1:60: undefined field 'maximum', there are apiVersion, kind, max, metadata
 | variables.specs.all(s, s.?backoffLimit.orValue(6) <= params.?maximum.orValue(10))
 | ...........................................................^`,
		},
		"field of the request": {
			"cronjob.yaml", "request.operation", "request.operatoin",
			`spec.validations[1].expression:1:8: undefined field 'operatoin', did you mean "operation"?
 | request.operatoin != "UPDATE" || oldObject.spec.schedule == object.spec.schedule
 | .......^`,
		},
		"field of a variable that is an object": {
			"cronjob.yaml", "variables.spec.?backoffLimit", "variables.spec.?backofLimit",
			`spec.validations[0].expression:1:15: undefined field 'backofLimit', did you mean "backoffLimit"?
 | variables.spec.?backofLimit.orValue(6) <= 10
 | ..............^`,
		},
		"field of a variable's element": {
			"job.yaml", `r, r.action ==`, `r, r.actoin ==`,
			`spec.variables[1].expression:1:28: undefined field 'actoin', did you mean "action"?
 | variables.rules.filter(r, r.actoin == "Count")
 | ...........................^`,
		},
		"no such variable": {
			"job.yaml", "variables.rules.filter", "variables.rule.filter",
			`spec.variables[1].expression:1:10: undefined field 'rule', did you mean "rules"?
 | variables.rule.filter(r, r.action == "Count")
 | .........^`,
		},
		"a variable without variables": {
			"job.yaml", "variables.rules.filter", "rules.filter",
			`spec.variables[1].expression:1:1: undeclared reference to 'rules' (in container ''), did you mean "variables.rules"?
 | rules.filter(r, r.action == "Count")
 | ^`,
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
		"type of a validation":       {"job.yaml", "backoffLimit <= 10", "backoffLimit", "spec.validations[0].expression: must evaluate to bool but got dyn"},
		"type of a match condition":  {"job.yaml", `!("exempt" in object.metadata.?labels.orValue({}))`, "object.metadata.name", "spec.matchConditions[0].expression: must evaluate to bool but got dyn"},
		"type of a message":          {"cronjob.yaml", `'"spec.schedule: was " + oldObject.spec.schedule'`, `'1'`, "spec.validations[1].messageExpression: must evaluate to string but got int"},
		"type of an annotation":      {"job.yaml", `string(size(variables.rules)) : ""`, `1 : 2`, "spec.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int"},
		"no such resource":           {"job.yaml", "resources: [jobs]", "resources: [jobz]", `spec.matchConstraints.resourceRules[0].resources[0]: no kind is known for "jobz" in batch/v1, did you mean "jobs"?`},
		"unknown version":            {"job.yaml", "apiVersions: [v1]", "apiVersions: [v2]", `spec.matchConstraints.resourceRules[0].resources[0]: no kind is known for "jobs" in batch/v2, it is in batch/v1`},
		"wildcard":                   {"job.yaml", "apiVersions: [v1]", `apiVersions: ["*"]`, "spec.matchConstraints.resourceRules[0].apiVersions[0]: what a wildcard stands for cannot be checked"},
		"no such kind of parameters": {"configmap.yaml", "kind: ConfigMap", "kind: ConfigMaps", "spec.paramKind: the schema of /v1, Kind=ConfigMaps is not known, did you mean \"ConfigMap\"?"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(readPolicy(t, test.file, test.from, test.to), allKinds(t), "1.34")
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
	sorting := readPolicy(t, "cronjob.yaml", "variables.spec.?backoffLimit", "size([2, 1].sort()) > 0 || variables.spec.?backoffLimit")
	if err := Check(sorting, allKinds(t), "1.35"); err != nil {
		t.Error(err)
	}
	if err := Check(sorting, allKinds(t), "1.99"); err == nil || !strings.Contains(err.Error(), `"1.99"`) {
		t.Errorf("got error %v, want one of version 1.99", err)
	}
}

// A problem that all kinds have is told once, one of some kinds with their names, and
// all in the order of the policy.
func TestCheckOfSeveralKinds(t *testing.T) {
	policy := readPolicy(t, "job.yaml", "resources: [jobs]", "resources: [jobs, cronjobs]", "object.metadata.?labels", "object.metadata.?lables")
	err := Check(policy, allKinds(t), "1.36")
	invalid, ok := errors.AsType[*CheckError](err)
	if !ok {
		t.Fatalf("got error %v, want a *CheckError", err)
	}
	type brief struct {
		FieldRef, Message string
		Kinds             []string
	}
	var got []brief
	for _, p := range invalid.Problems {
		got = append(got, brief{p.FieldRef, p.Message, p.Kinds})
	}
	cronJob := []string{"CronJob"}
	want := []brief{
		{"spec.matchConditions[0].expression", "undefined field 'lables'", nil},
		{"spec.variables[0].expression", "undefined field 'podFailurePolicy'", cronJob},
		{"spec.validations[0].expression", "undefined field 'backoffLimit'", cronJob},
		{"spec.validations[0].messageExpression", "undefined field 'backoffLimit'", cronJob},
		{"spec.validations[2].expression", "undefined field 'template'", cronJob},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if text := invalid.Problems[1].String(); !strings.Contains(text, "undefined field 'podFailurePolicy' (for CronJob), there are concurrencyPolicy, ") {
		t.Errorf("got %s", text)
	}
}

// A field that a custom resource leaves out is no mistake behind a variable: expressions
// are written for many definitions of an embedded Job.
func TestCheckIsLenientWithVariablesOfCustomResources(t *testing.T) {
	policy := readPolicy(t, "crd.yaml", "s.?backoffLimit", "s.?podReplacementPolicy.hasValue() || s.?backoffLimit")
	if err := Check(policy, allKinds(t), "1.36"); err != nil {
		t.Error(err)
	}
}

// Together is as strict as one by one, and as the API server's own Check where that
// looks.
func TestTypeProblemsAreTheAPIServers(t *testing.T) {
	policy := readPolicy(t, "job.yaml",
		"object.spec.backoffLimit <=", "object.spec.backofLimit <=",
		"string(object.spec.backoffLimit)", "string(object.spec.backofLimit)",
		"object.metadata.?labels", "object.metadata.?lables")
	policy.Spec.Validations[2].Expression += " // a comment ends with the line"
	checker := &validating.TypeChecker{SchemaResolver: kindSet(allKinds(t)), RestMapper: kindSet(allKinds(t)).mapper()}
	var want []string
	for _, warning := range checker.Check(policy) {
		want = append(want, warning.FieldRef)
	}
	problems, err := typeProblems(policy, mustKind(t, kind.Job), nil, expressionsOf(policy).texts())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.FieldRef)
	}
	if want = append(want, "spec.matchConditions[0].expression"); len(want) != 3 { // where the API server does not look
		t.Fatalf("the API server warns of %v only", want)
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
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { *p.Spec.FailurePolicy = "Warn" }, `spec.failurePolicy: Unsupported value: "Warn": supported values: "Fail", "Ignore"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.ParamKind = &admissionregistrationv1.ParamKind{}
		}, "spec.paramKind.apiVersion: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "a/b/c", Kind: "D"}
		}, "spec.paramKind.apiVersion: Invalid value: \"a/b/c\""},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints = nil }, "spec.matchConstraints: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = nil
		}, "spec.matchConstraints.resourceRules: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { firstRule(p).Operations = nil }, "spec.matchConstraints.resourceRules[0].operations: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { firstRule(p).Operations[1] = "CHANGE" }, `spec.matchConstraints.resourceRules[0].operations[1]: Unsupported value: "CHANGE"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { firstRule(p).Operations[1] = "*" }, "spec.matchConstraints.resourceRules[0].operations: Invalid value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { firstRule(p).APIVersions[0] = "" }, "spec.matchConstraints.resourceRules[0].apiVersions[0]: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConditions[0].Name = "" }, "spec.matchConditions[0].name: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.MatchConditions[0].Name = "a b" }, `spec.matchConditions[0].name: Invalid value: "a b"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConditions = append(p.Spec.MatchConditions, p.Spec.MatchConditions[0])
		}, `spec.matchConditions[1].name: Duplicate value: "not-exempt"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConditions = make([]admissionregistrationv1.MatchCondition, 65)
		}, "spec.matchConditions: Too many: 65: must have at most 64 items"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Variables[0].Name = "in" }, `spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Variables[0].Name = "a-b" }, `spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Variables[0].Expression = " " }, "spec.variables[0].expression: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.Validations, p.Spec.AuditAnnotations = nil, nil
		}, "spec.validations: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Validations[1].Message = "a\nb" }, "spec.validations[1].message: Invalid value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.Validations[1].Message = " " }, "spec.validations[1].message: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.Validations[0].MessageExpression = "\t"
		}, "spec.validations[0].messageExpression: Required value"},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { *p.Spec.Validations[1].Reason = "Gone" }, `spec.validations[1].reason: Unsupported value: "Gone"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) { p.Spec.AuditAnnotations[0].Key = "a b" }, `spec.auditAnnotations[0].key: Invalid value: "retries.example.com/a b"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.AuditAnnotations = append(p.Spec.AuditAnnotations, p.Spec.AuditAnnotations[0])
		}, `spec.auditAnnotations[1].key: Duplicate value: "rules"`},
		{func(p *admissionregistrationv1.ValidatingAdmissionPolicy) {
			p.Spec.AuditAnnotations[0].ValueExpression = `"` + strings.Repeat("x", maxValueExpression) + `"`
		}, "spec.auditAnnotations[0].valueExpression: Too long: may not be more than 5120 bytes"},
	} {
		policy := readPolicy(t, "job.yaml")
		test.change(policy)
		err := Check(policy, allKinds(t), "1.36")
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return strings.HasPrefix(line, test.want) }) {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}
}

func firstRule(p *admissionregistrationv1.ValidatingAdmissionPolicy) *admissionregistrationv1.RuleWithOperations {
	return &p.Spec.MatchConstraints.ResourceRules[0].RuleWithOperations
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"object.spec.backoffLimit <= 10", "variables.rules.all(r, has(r.action))", "object.spec.template.spec.container", "(", "", "x) + (y",
		"[1].map(x, x)", "// a comment alone", "/ 1 //", "object.?spec.?x.y", "\xff", "true // comment", "1 /* ", "'\n' + \n zzz", "a.b.c.d()", "\U0001f9ea.x", "params",
	} {
		f.Add(text)
	}
	policy, kinds := readPolicy(f, "job.yaml"), []kind.Kind{mustKind(f, kind.Job)}
	f.Fuzz(func(t *testing.T, text string) {
		policy := policy.DeepCopy()
		policy.Spec.Validations[2].Expression = text
		err := Check(policy, kinds, "1.36")
		invalid, ok := errors.AsType[*CheckError](err)
		if err != nil && !ok {
			t.Fatalf("%q: %v", text, err)
		}
		if _, evaluation := NewEvaluator(policy); evaluation != nil && err == nil {
			t.Errorf("%q is right, but does not compile: %v", text, evaluation)
		}
		if err == nil {
			return
		}
		for _, p := range invalid.Problems {
			if text := p.String(); text == "" || p.FieldRef != "spec.validations[2].expression" || p.Line < 0 || p.Line > 0 && p.Column < 1 {
				t.Errorf("%q: odd place in %+v", text, p)
			}
		}
	})
}
