package admission

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/policies"
)

// TestStandardsAreCurrent generates rules/guardrails.json from defaults.rego and details.rego of the bundle.
func TestStandardsAreCurrent(t *testing.T) {
	standards := map[string]standard{}
	details := object(t, "details")
	object(t, "defaults").Foreach(func(id, defaults *ast.Term) {
		settings, err := ast.JSON(defaults.Value)
		if err != nil {
			t.Fatal(err)
		}
		detail := details.Get(id)
		if detail == nil {
			t.Fatalf("%s: no detail", id)
		}
		standards[string(id.Value.(ast.String))] = standard{settings.(map[string]any), detailInCEL(t, detail)}
	})
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(standards); err != nil {
		t.Fatal(err)
	}
	const file = "rules/guardrails.json"
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want.String()); diff != "" {
		t.Errorf("%s is stale, run make generate (-file +want):\n%s", file, diff)
	}
}

// object returns the object after which a file of the guardrails is named.
func object(t *testing.T, name string) ast.Object {
	t.Helper()
	file := "guardrails/" + name + ".rego"
	text, err := policies.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	module, err := ast.ParseModuleWithOpts(file, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range module.Rules {
		if r.Head.Name.Equal(ast.Var(name)) {
			return r.Head.Value.Value.(ast.Object)
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return nil
}

// detailInCEL converts a detail, which is a string or a sprintf of settings, to CEL. A setting that would
// exceed a long line begins the next one.
func detailInCEL(t *testing.T, detail *ast.Term) string {
	t.Helper()
	if text, ok := detail.Value.(ast.String); ok {
		return quote(string(text))
	}
	call, ok := detail.Value.(ast.Call)
	if !ok || len(call) != 3 || call[0].String() != "sprintf" {
		t.Fatalf("%s: want a string, or a sprintf of settings", detail)
	}
	text := strings.ReplaceAll(string(call[1].Value.(ast.String)), "%d", "%s")
	call[2].Value.(*ast.Array).Foreach(func(argument *ast.Term) {
		before, after, ok := strings.Cut(text, "%s")
		if !ok {
			t.Fatalf("%s: too many arguments", detail)
		}
		setting, joint := settingInCEL(t, argument), " "
		if len(before)-strings.LastIndex(before, "\n")+len(setting) > 100 {
			joint = "\n    "
		}
		text = before + `" +` + joint + setting + ` + "` + after
	})
	if strings.Contains(text, "%") {
		t.Fatalf("%s: want arguments for %%d and %%s alone", detail)
	}
	return strings.TrimSuffix(`"`+text+`"`, ` + ""`)
}

// settingInCEL converts an argument, config[id].name by itself or as a list with commas, to CEL.
func settingInCEL(t *testing.T, argument *ast.Term) string {
	t.Helper()
	name := ""
	ast.WalkRefs(argument, func(ref ast.Ref) bool {
		if ref[0].Equal(ast.VarTerm("config")) {
			name = "settings." + string(ref[2].Value.(ast.String))
		}
		return false
	})
	call, isCall := argument.Value.(ast.Call)
	switch {
	case name == "":
	case !isCall:
		return "string(" + name + ")"
	case call[0].String() == "concat":
		return name + `.join(", ")`
	case call[0].String() == "_listed":
		return name + `.map(code, string(code)).join(", ")`
	}
	t.Fatalf("%s: want a setting", argument)
	return ""
}
