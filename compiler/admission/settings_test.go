package admission

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someCatalogue() *Catalogue {
	rule := func(id string, settings map[string]any) Rule {
		r := Rule{}
		r.ID = id
		r.Settings, _ = newSettings(settings)
		return r
	}
	return &Catalogue{Name: "guardrails", Rules: []Rule{
		rule("G-TTL", map[string]any{"min": 60, "max": 3600}),
		rule("G-CODES", map[string]any{"codes": []any{137, 143}}),
		rule("G-ACTION", map[string]any{"actions": []any{"Ignore"}, "maxPercent": 50}),
		rule("G-OFF", map[string]any{"enabled": false}),
	}}
}

func TestConfigurationIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name          string
		configuration Configuration
		want          []string
	}{
		{"legal", Configuration{"G-TTL": {"min": int64(0), "max": int64(10)}, "G-ACTION": {"actions": []any{"Count"}, "maxPercent": int64(100)}}, nil},
		{"unknown rule", Configuration{"G-TLT": {}}, []string{`G-TLT: is not a guardrail, did you mean "G-TTL"?`}},
		{"unknown setting", Configuration{"G-TTL": {"maxx": int64(1)}}, []string{`G-TTL.maxx: is not a parameter of this guardrail, did you mean "max"?`}},
		{"negative", Configuration{"G-TTL": {"max": int64(-1)}}, []string{"G-TTL.max: must be a whole number, 0 or more"}},
		{"fraction", Configuration{"G-TTL": {"max": 1.5}}, []string{"G-TTL.max: must be a whole number, 0 or more"}},
		{"contradiction", Configuration{"G-TTL": {"min": int64(7200)}}, []string{"G-TTL.min: min must be less than or equal to max"}},
		{"empty list", Configuration{"G-CODES": {"codes": []any{}}}, []string{"G-CODES.codes: must be a list of whole numbers, one at least"}},
		{"mixed list", Configuration{"G-CODES": {"codes": []any{int64(1), "x"}}}, []string{"G-CODES.codes: must be a list of whole numbers, one at least"}},
		{"choice", Configuration{"G-ACTION": {"actions": []any{"Restart"}}}, []string{"G-ACTION.actions: must be one of FailJob, FailIndex, Ignore, Count"}},
		{"severity", Configuration{"G-OFF": {"severity": "fatal"}}, []string{"G-OFF.severity: must be one of error, warning"}},
		{"percent", Configuration{"G-ACTION": {"maxPercent": int64(101)}}, []string{"G-ACTION.maxPercent: must be at most 100"}},
		{"several", Configuration{"G-TTL": {"max": "x"}, "G-OFF": {"enabled": "yes"}},
			[]string{"G-OFF.enabled: must be true or false", "G-TTL.max: must be a whole number, 0 or more"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := someCatalogue().Select(nil, tc.configuration)
			var got []string
			if wrong, ok := errors.AsType[ConfigurationError](err); ok {
				got = strings.Split(wrong.Error(), "\n")
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	for _, tc := range []struct {
		name string
		ids  []string
		want []string
	}{
		{"nothing", nil, nil},
		{"a pattern takes what is on", []string{"G-*"}, []string{"G-TTL", "G-CODES", "G-ACTION"}},
		{"a name turns on", []string{"G-OFF", "G-A*"}, []string{"G-ACTION", "G-OFF"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := someCatalogue().Select(tc.ids, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range s.enabled() {
				got = append(got, r.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUnknownRulesAreErrors(t *testing.T) {
	for id, want := range map[string]string{
		"G-TLT":  `no rule "G-TLT", did you mean "G-TTL"?`,
		"G-XYZ*": `no rule "G-XYZ*"`,
		"[":      `no rule "["`,
	} {
		if err := checkPatterns([]string{"G-*", id}, someCatalogue()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
