package admission

import "testing"

func TestRewriteKeepsTheAuthorsText(t *testing.T) {
	meaning := func(n name) string {
		switch n.ident {
		case "root":
			return `"spec.jobTemplate.spec"`
		case "settings":
			return map[string]string{"max": "10", "codes": "[137, 143]"}[n.setting]
		case "spec":
			return "object.spec.jobTemplate.spec"
		default:
			return "variables." + n.ident
		}
	}
	for _, tc := range []struct{ name, text, want string }{
		{"names", "!perIndex && backoffLimit > settings.max", "!variables.perIndex && variables.backoffLimit > 10"},
		{"strings that meet", `[root + ".parallelism: Invalid value: " + string(spec.parallelism)]`,
			`["spec.jobTemplate.spec.parallelism: Invalid value: " + string(object.spec.jobTemplate.spec.parallelism)]`},
		{"numbers in strings", `"from " + string(settings.max) + " to " + string(settings.max)`, `"from 10 to 10"`},
		{"numbers that meet no string", `string(settings.max) + "s"`, `string(10) + "s"`},
		{"a string that meets none", `root + string(1)`, `"spec.jobTemplate.spec" + string(1)`},
		{"lines and comments", "rules.filter(rule, // whose\n  rule.action == \"Ignore\")", "variables.rules.filter(rule, // whose\n  rule.action == \"Ignore\")"},
		{"loop variables", "rules.transformList(i, rule, rule.values.exists(code, code in settings.codes), string(i))",
			"variables.rules.transformList(i, rule, rule.values.exists(code, code in [137, 143]), string(i))"},
		{"fields with a name's name", "spec.?rules[?0].?spec.orValue(rules)", "object.spec.jobTemplate.spec.?rules[?0].?spec.orValue(variables.rules)"},
		{"presence", "has(spec.backoffLimit)", "has(object.spec.jobTemplate.spec.backoffLimit)"},
		{"runes", `rules == ["é", root + "ü"] && spec == spec`, `variables.rules == ["é", "spec.jobTemplate.specü"] && object.spec.jobTemplate.spec == object.spec.jobTemplate.spec`},
		{"spaced settings", "settings . max + 1", "10 + 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.rewrite(meaning); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestParseRefusesNonsense(t *testing.T) {
	for _, text := range []string{"spec.", "a b", "[1,", "spec.?"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is an expression", text)
		}
	}
}
