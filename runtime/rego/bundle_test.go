package rego

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

func TestBadBundles(t *testing.T) {
	for _, test := range []struct{ name, file, text, want string }{
		{"syntax", "job/job.rego", "package podverdict.job\n\nfindings contains", "bundle: job/job.rego:3: rego_parse_error"},
		{"unknown function", "job/more.rego", "package podverdict.job\n\nx := nothing(1)", "bundle: job/more.rego:3: rego_type_error: undefined function nothing"},
		{"network", "job/more.rego", "package podverdict.job\n\nx := http.send({})", "bundle: job/more.rego:3: rego_type_error: undefined function http.send"},
		{"addresses", "job/more.rego", "package podverdict.job\n\nx := net.lookup_ip_addr(\"a.b\")", "undefined function net.lookup_ip_addr"},
		{"environment", "job/more.rego", "package podverdict.job\n\nx := opa.runtime()", "undefined function opa.runtime"},
		{"no entrypoint", "job/job.rego", "package podverdict.job", "bundle: no rule data.podverdict.job.findings in it"},
		{"no guardrails", "guardrails/guardrails.rego", "package podverdict.guardrails", "bundle: no rule data.podverdict.guardrails.findings in it"},
		{"outside the roots", "x.rego", "package elsewhere", "bundle: manifest roots [podverdict] do not permit"},
		{"manifest", ".manifest", "[]", "bundle: bundle load failed on manifest decode"},
		{"data", "podverdict/config/data.json", "{", "bundle: bundle load failed on podverdict/config/data.json"},
		{"data in the way of a rule", "podverdict/job/data.json", `{"findings":[]}`, "bundle: job/job.rego"},
	} {
		folder := standIn()
		folder[test.file] = &fstest.MapFile{Data: []byte(test.text)}
		_, err := validator(t, folder, Options{Guardrails: true})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got  %v\nwant %s", test.name, err, test.want)
		}
	}
	if _, err := Load(fstest.MapFS{}); !errors.Is(err, errNoModules) {
		t.Errorf("empty: %v", err)
	}
}

// A schema that is elsewhere is not fetched.
func TestSchemasAreNotFetched(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	folder := standIn()
	folder["job/more.rego"] = &fstest.MapFile{Data: []byte(
		"package podverdict.job\n\nfindings contains x if {\n\tjson.match_schema(input, {\"$ref\": \"" + server.URL + "/schema\"})[0]\n\tx := {}\n}")}
	v, err := validator(t, folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Validate(t.Context(), job(1, "a"), nil); err != nil || calls.Load() > 0 {
		t.Errorf("the schema is fetched %d times: %v", calls.Load(), err)
	}
}

// The signature of a folder is not looked at.
func TestSignedFolder(t *testing.T) {
	folder := standIn()
	folder[".signatures.json"] = &fstest.MapFile{Data: []byte(`{"signatures":["of somebody"]}`)}
	if _, err := Load(folder); err != nil {
		t.Error(err)
	}
}
