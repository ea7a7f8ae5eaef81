package kind

import (
	"strings"
	"testing"
)

func TestServedKindsSaysWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct{ from, to, want string }{
		"no version":     {"served: true", "served: false", "spec.versions: Required value: one must be served"},
		"invalid schema": {"type: integer", "type: int", `spec.versions[0].schema.openAPIV3Schema.properties[max].type: Unsupported value: "int": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		"no schema type": {"{type: integer}", "{}", "spec.versions[0].schema.openAPIV3Schema.properties[max].type: Required value: must not be empty for specified object fields"},
		"missing field":  {"  group: example.com\n", "", "spec.group: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, wrong := ServedKinds(definition(t, "limit.yaml", test.from, test.to))
			if err := wrong.ToAggregate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %s", err, test.want)
			}
			if kinds != nil {
				t.Errorf("got kinds %v beside the error", kinds)
			}
		})
	}
}
