package charts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/formatter"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const monitoring = "../monitoring"

func TestMonitoringFilesAreCurrent(t *testing.T) {
	for source, target := range map[string]string{"alerts.jsonnet": "alerts.yaml", "dashboard.jsonnet": "dashboard.json"} {
		vm := jsonnet.MakeVM()
		vm.StringOutput = true
		want, err := vm.EvaluateFile(filepath.Join(monitoring, source))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read(t, target)); diff != "" {
			t.Errorf("%s is stale: go generate ./... in charts rewrites it (-want +got):\n%s", target, diff)
		}
	}
}

func TestJsonnetIsFormatted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(monitoring, "*sonnet"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, file := range files {
		text := read(t, filepath.Base(file))
		want, err := formatter.Format(file, text, formatter.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("%s (-jsonnetfmt +file):\n%s", file, diff)
		}
	}
}

// An importer of the mixin can change thresholds without copying the rules.
func TestMixinIsConfigured(t *testing.T) {
	vm := jsonnet.MakeVM()
	vm.Importer(&jsonnet.FileImporter{JPaths: []string{monitoring}})
	got, err := vm.EvaluateAnonymousSnippet("own.jsonnet",
		`local own = (import 'mixin.libsonnet') + { _config+:: { selector: 'job="batch"', failedLeast: 7 } };
		{ alerts: own.prometheusAlerts, dashboard: own.grafanaDashboards['podverdict.json'] }`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "podverdict-controller\\\"") || !strings.Contains(got, `job=\"batch\"`) || !strings.Contains(got, ">= 7") {
		t.Errorf("the configuration is not in\n%s", got)
	}
}

// A panel whose query Prometheus cannot parse stays empty.
func TestDashboardQueries(t *testing.T) {
	for _, query := range dashboardQueries(t) {
		query = strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h").Replace(query)
		if _, err := parser.NewParser(parser.Options{}).ParseExpr(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 15 {
		t.Fatalf("there are %d queries", len(queries))
	}
	return queries
}

var (
	documented = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\|")
	series     = regexp.MustCompile(`\b((?:job_controller|podverdict)_[a-z_]+)\{([^}]*)\}`)
	label      = regexp.MustCompile(`([a-z_]+)(?:=~?|!=)"`)
)

// An alert on a metric or label that the controller does not export would never fire. A test of the controller checks
// the list in docs/controller.md.
func TestQueriesAskForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for _, row := range documented.FindAllStringSubmatch(string(text), -1) {
		labels[row[1]] = row[2]
	}
	var groups monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict([]byte(read(t, "alerts.yaml")), &groups); err != nil {
		t.Fatal(err)
	}
	queries := dashboardQueries(t)
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			queries = append(queries, rule.Expr.String())
		}
	}
	found := 0
	for _, query := range queries {
		for _, s := range series.FindAllStringSubmatch(query, -1) {
			found++
			has, ok := labels[strings.TrimSuffix(s[1], "_bucket")]
			if !ok {
				t.Errorf("docs/controller.md has no metric %s", s[1])
			}
			for _, l := range label.FindAllStringSubmatch(s[2], -1) {
				if l[1] != "job" && !strings.Contains(has, "`"+l[1]+"`") {
					t.Errorf("%s has no label %s", s[1], l[1])
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("%d series were found in the queries", found)
	}
}

// Each alert has a section in docs/operations.md, which is the target of its runbook_url. Each section describes an alert.
func TestEveryAlertHasItsSection(t *testing.T) {
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections, alerts []string
	for _, heading := range regexp.MustCompile(`(?m)^### (Podverdict\w+)$`).FindAllStringSubmatch(string(text), -1) {
		sections = append(sections, heading[1])
	}
	for _, name := range regexp.MustCompile(`alert: "?(\w+)`).FindAllStringSubmatch(read(t, "alerts.yaml"), -1) {
		alerts = append(alerts, name[1])
	}
	if diff := cmp.Diff(alerts, sections); diff != "" || len(alerts) == 0 {
		t.Errorf("(-alerts +sections):\n%s", diff)
	}
	for _, alert := range alerts {
		if !strings.Contains(read(t, "alerts.yaml"), "docs/operations.md#"+strings.ToLower(alert)+`"`) {
			t.Errorf("%s has no runbook_url", alert)
		}
	}
}

// The Prometheus operator decodes the chart's objects into these types.
func TestOperatorReadsTheChart(t *testing.T) {
	objects := render(t, "v4", values{"image": image, "serviceMonitor": values{"enabled": true}, "prometheusRule": values{"enabled": true}})
	for key, into := range map[string]any{
		"ServiceMonitor podverdict-controller": new(monitoringv1.ServiceMonitor), "PrometheusRule podverdict-controller": new(monitoringv1.PrometheusRule),
	} {
		text, err := yaml.Marshal(objects[key])
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	monitor, service := objects["ServiceMonitor podverdict-controller"], objects["Service podverdict-controller-metrics"]
	selected := monitor["spec"].(values)["selector"].(values)["matchLabels"].(values)
	labels := service["metadata"].(values)["labels"].(values)
	for name, value := range selected {
		if labels[name] != value {
			t.Errorf("the monitor selects %s=%v, the service has %v", name, value, labels[name])
		}
	}
	ports := service["spec"].(values)["ports"].([]any)
	if !slices.ContainsFunc(ports, func(p any) bool { return p.(values)["targetPort"] == "metrics" }) {
		t.Errorf("the ports are %v", ports)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(monitoring, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A panel without a position is drawn over another panel.
func TestPanelsHavePlaces(t *testing.T) {
	type place struct{ X, Y, W, H int }
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos place
		}
	}
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, panel := range dashboard.Panels {
		at := panel.GridPos
		if at.W < 4 || at.H < 4 || at.X+at.W > 24 || ids[panel.ID] {
			t.Errorf("%s, number %d, is at %+v", panel.Title, panel.ID, at)
		}
		ids[panel.ID] = true
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("%s is over %s", panel.Title, other)
				}
				taken[[2]int{x, y}] = panel.Title
			}
		}
	}
	if len(ids) < 15 {
		t.Errorf("there are %d panels", len(ids))
	}
}
