package custom_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	rulecel "github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
)

const languagePage = "../../docs/language.md"

// TestLanguagePage generates the tables and findings of docs/language.md, which are enclosed by comments with their
// names.
func TestLanguagePage(t *testing.T) {
	env := newEnvironment(t)
	have, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(have)
	for name, text := range map[string]string{
		"functions": libraryTables(), "present": presentTable(env), "absent": findingsOfExamples(t, env, absentExamples),
		"cel": functionsTable(t, env), "findings": findingsOfExamples(t, env, checkExamples), "limits": limitsTable(), "costs": costsTable(t, env),
	} {
		begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no part %s", languagePage, name)
		}
		page = before + begin + text + end + after
	}
	if *update {
		if err := os.WriteFile(languagePage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(have), page); diff != "" && !*update {
		t.Errorf("%s is stale, run make generate (-page +code):\n%s", languagePage, diff)
	}
}

// table returns a Markdown table.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	write := func(cells []string) {
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	write(head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, row := range rows {
		write(row)
	}
	return b.String()
}

func code(text string) string { return "`" + text + "`" }

func libraryTables() string {
	var functions, containers, conditions, attempts [][]string
	for _, f := range rulecel.Functions {
		functions = append(functions, []string{code(f.Signature), f.Doc, code(f.Example)})
	}
	for _, f := range rulecel.ContainerFields {
		containers = append(containers, []string{code(f.Name), cel.FormatCELType(f.Type()), f.Doc})
	}
	for _, f := range rulecel.ConditionFields {
		conditions = append(conditions, []string{code(f.Name), cel.FormatCELType(f.Type()), f.Doc})
	}
	for _, f := range rulecel.AttemptFields {
		attempts = append(attempts, []string{code(f.Name), cel.FormatCELType(f.Type()), f.Doc})
	}
	signals := rulecel.SignalNames()
	return table([]string{"function", "is", "for example"}, functions) +
		"\nA " + code(rulecel.ContainerName) + " has these fields, always:\n\n" + table([]string{"field", "type", "is"}, containers) +
		fmt.Sprintf("\nNames of signals are those of Linux, %s to %s, and %s to %s.\n", code(signals[0]), code(signals[30]), code(signals[31]), code(signals[len(signals)-1])) +
		"\nA " + code(rulecel.ConditionName) + " has these fields, always:\n\n" + table([]string{"field", "type", "is"}, conditions) +
		fmt.Sprintf("\n%s are at most %d. A %s has these fields, always:\n\n", code(compiler.AttemptsVariable), rulecel.MaxAttempts, code(rulecel.AttemptName)) +
		table([]string{"field", "type", "is"}, attempts)
}

// presentTable returns a table of the fields that need no presence test, for the types that rules use most.
func presentTable(env *compiler.Environment) string {
	var rows [][]string
	for _, name := range []string{
		"Pod", "ObjectMeta", "PodSpec", "Container", "PodStatus", "ContainerStatus", "ContainerState", "ContainerStateTerminated",
		"ContainerStateWaiting", "PodCondition", "Job", "JobSpec", "JobStatus",
	} {
		typ, ok := env.Schema.Type(name)
		if !ok {
			continue
		}
		var present []string
		for _, f := range typ.Fields {
			if !f.Optional {
				present = append(present, code(f.Name))
			}
		}
		rows = append(rows, []string{name, strings.Join(present, ", "), fmt.Sprint(len(typ.Fields) - len(present))})
	}
	return table([]string{"type", "always there", "others, that may be absent"}, rows)
}

// functionsTable returns a table of the functions that the API server's CEL adds to plain CEL.
func functionsTable(t *testing.T, env *compiler.Environment) string {
	t.Helper()
	plain, err := cel.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	var standard, extended, macros []string
	for name, f := range env.LivingRules.Functions() {
		_, isStandard := plain.Functions()[name]
		own := slices.ContainsFunc(rulecel.Functions, func(f rulecel.Function) bool { return f.Name == name })
		switch {
		case strings.ContainsAny(name, "@_") || name == "in" || own || forAuthorizer(f):
		case isStandard:
			standard = append(standard, name)
		default:
			extended = append(extended, name)
		}
	}
	for _, m := range env.LivingRules.Macros() {
		if m.Function() != rulecel.NodeFunction { // one of podverdict's functions
			macros = append(macros, m.Function())
		}
	}
	names := func(all []string) string {
		slices.Sort(all)
		return code(strings.Join(slices.Compact(all), "`, `"))
	}
	return table([]string{"of", "there are"}, [][]string{
		{"macros", names(macros)}, {"CEL", names(standard)}, {"the API server of Kubernetes " + env.Kubernetes, names(extended)},
	})
}

// forAuthorizer reports whether a function is for the authorizer of a request, which rules do not have.
func forAuthorizer(f *decls.FunctionDecl) bool {
	return !slices.ContainsFunc(f.OverloadDecls(), func(o *decls.OverloadDecl) bool {
		return len(o.ArgTypes()) == 0 || !strings.HasPrefix(o.ArgTypes()[0].TypeName(), "kubernetes.authorization.")
	})
}

// example is a policy with findings.
type example struct{ about, policy string }

// findingsOfExamples returns the findings of policies, each under its subject.
func findingsOfExamples(t *testing.T, env *compiler.Environment, examples []example) string {
	t.Helper()
	var b strings.Builder
	for _, x := range examples {
		var spec v1alpha1.PodFailurePolicySpec
		if err := yaml.UnmarshalStrict([]byte(x.policy), &spec); err != nil {
			t.Fatalf("%s: %v", x.about, err)
		}
		check := strings.Trim(x.about, "*")
		findings := slices.DeleteFunc(findingsOf(t, env, &spec), func(f compiler.Finding) bool {
			return check != x.about && f.Check != check
		})
		if len(findings) != 1 {
			t.Errorf("%s: findings are %v", x.about, findings)
			continue
		}
		f := findings[0]
		fmt.Fprintf(&b, "%s\n\n    %s\n\n", x.about, strings.ReplaceAll(f.String(), "\n", "\n    "))
	}
	return b.String()
}

// TestLanguagePageHasAllChecks checks that the table lists each check with its severity, and that there is an example
// of every check that can be triggered.
func TestLanguagePageHasAllChecks(t *testing.T) {
	defined := map[string]bool{compiler.CheckUnreachable: true, compiler.CheckMisspelt: true, compiler.CheckExitCode: true}
	for _, file := range []string{"finding.go", "admission.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^\s*(?:const )?Check\w+ += "(.+)"`).FindAllStringSubmatch(string(text), -1) {
			defined[match[1]] = true
		}
	}
	page, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (error|warning) \| `).FindAllStringSubmatch(string(page), -1) {
		check, severity := row[1], row[2]
		documented[check] = true
		shown := regexp.MustCompile(`: ` + severity + `: .* \(` + check + `\)\n`).Match(page)
		if without := check == custom.CheckPlan || check == custom.CheckAdmission; shown == without {
			t.Errorf("check %s of severity %s: has an example %v", check, severity, shown)
		}
	}
	if diff := cmp.Diff(defined, documented); diff != "" {
		t.Errorf("checks (-code +page):\n%s", diff)
	}
}

func limitsTable() string {
	return table([]string{"limit", "is"}, [][]string{
		{"match conditions, variables, rules", fmt.Sprintf("%d of each", custom.MaxItems)},
		{"characters of an expression", fmt.Sprint(custom.MaxExpression)},
		{"bytes of a message", fmt.Sprintf("%d; a longer one is not shown", custom.MaxMessage)},
		{"cost of an expression", fmt.Sprint(compiler.CostLimit)},
		{"cost of all expressions of a policy", fmt.Sprint(compiler.CostBudget)},
	}) + "\nCosts are told for Pods and Jobs within these bounds, of which the API has few:\n\n" +
		table([]string{"of", "at most"}, [][]string{
			{"containers of a Pod", fmt.Sprint(custom.MaxContainers)},
			{"entries of any other list or map", fmt.Sprint(custom.MaxEntries)},
			{"characters of phases, states, reasons and such words", fmt.Sprint(custom.MaxWord)},
			{"characters of names and labels", fmt.Sprint(custom.MaxName)},
			{"characters of any other string, termination messages among them", fmt.Sprint(custom.MaxText)},
			{"characters of annotations", fmt.Sprint(custom.MaxAnnotation)},
		})
}

// costsTable returns a table of the costs of typical expressions.
func costsTable(t *testing.T, env *compiler.Environment) string {
	t.Helper()
	var rows [][]string
	for _, when := range costExamples {
		spec := rules(when)
		if strings.Contains(when, compiler.NowVariable) {
			spec.Rules[0].Phase = "Pending"
		}
		cost := compile(t, env, spec).Cost
		rows = append(rows, []string{code(when), fmt.Sprint(cost), fmt.Sprintf("%.2f %%", 100*float64(cost)/float64(compiler.CostLimit))})
	}
	return table([]string{"expression", "cost", "of the limit"}, rows)
}
