package charts

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

// alertTests is the content of monitoring/tests.yaml, in the format of promtool test rules.
type alertTests struct {
	RuleFiles          []string       `json:"rule_files"`
	EvaluationInterval model.Duration `json:"evaluation_interval"`
	Tests              []alertTest    `json:"tests"`
}

type alertTest struct {
	Name     string         `json:"name"`
	Interval model.Duration `json:"interval"`
	Series   []struct {
		Series string `json:"series"`
		Values string `json:"values"`
	} `json:"input_series"`
	Queries []queryTest `json:"promql_expr_test"`
	Alerts  []firedTest `json:"alert_rule_test"`
}

type queryTest struct {
	Expr     string         `json:"expr"`
	EvalTime model.Duration `json:"eval_time"`
	Samples  []struct {
		Labels string  `json:"labels"`
		Value  float64 `json:"value"`
	} `json:"exp_samples"`
}

type firedTest struct {
	EvalTime  model.Duration `json:"eval_time"`
	AlertName string         `json:"alertname"`
	Alerts    []struct {
		Labels      map[string]string `json:"exp_labels"`
		Annotations map[string]string `json:"exp_annotations"`
	} `json:"exp_alerts"`
}

func TestAlertsFireOnWhatIsFinal(t *testing.T) {
	var file alertTests
	if err := yaml.UnmarshalStrict([]byte(read(t, "tests.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Tests) < 7 || len(file.RuleFiles) != 1 || file.EvaluationInterval <= 0 {
		t.Fatalf("tests.yaml has %d tests of %q each %v", len(file.Tests), file.RuleFiles, file.EvaluationInterval)
	}
	for _, test := range file.Tests {
		t.Run(test.Name, func(t *testing.T) {
			evaluated := newEvaluation(t, test, filepath.Join(monitoring, file.RuleFiles[0]), time.Duration(file.EvaluationInterval))
			evaluated.run(t, test)
		})
	}
}

// evaluation evaluates the rules of a file with Prometheus' engine on the series of a test.
type evaluation struct {
	query    rules.QueryFunc
	groups   map[string]*rules.Group
	interval time.Duration
}

func newEvaluation(t *testing.T, test alertTest, ruleFile string, interval time.Duration) *evaluation {
	t.Helper()
	load := fmt.Sprintf("load %v\n", test.Interval)
	for _, s := range test.Series {
		load += fmt.Sprintf("  %s %s\n", s.Series, s.Values)
	}
	stored := promqltest.LoadedStorage(t, load)
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), stored)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: query, Appendable: stored, Queryable: stored, Context: t.Context(), Logger: slog.New(slog.DiscardHandler),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
	})
	groups, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, ruleFile)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	e := &evaluation{query: query, groups: groups, interval: interval}
	for _, rule := range e.alerting() {
		rule.SetRestored(true) // otherwise the series ALERTS is missing
	}
	return e
}

func (e *evaluation) alerting() (all []*rules.AlertingRule) {
	for _, group := range e.groups {
		all = append(all, group.AlertingRules()...)
	}
	return all
}

// run evaluates the rules from time 0 on, and checks the expectations for each instant right after its evaluation.
func (e *evaluation) run(t *testing.T, test alertTest) {
	t.Helper()
	asked := 0
	for at := time.Duration(0); asked < len(test.Queries)+len(test.Alerts); at += e.interval {
		if at > 24*time.Hour {
			t.Fatal("at an eval_time no rules are evaluated")
		}
		now := time.Unix(0, 0).UTC().Add(at)
		for _, group := range e.groups {
			group.Eval(t.Context(), now)
		}
		for _, rule := range e.alerting() {
			if err := rule.LastError(); err != nil {
				t.Fatalf("%s at %v: %v", rule.Name(), at, err)
			}
		}
		for _, q := range test.Queries {
			if time.Duration(q.EvalTime) == at {
				asked++
				e.compareSamples(t, q, now)
			}
		}
		for _, f := range test.Alerts {
			if time.Duration(f.EvalTime) == at {
				asked++
				e.compareAlerts(t, f)
			}
		}
	}
}

func (e *evaluation) compareSamples(t *testing.T, q queryTest, now time.Time) {
	t.Helper()
	vector, err := e.query(t.Context(), q.Expr, now)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, sample := range vector {
		got = append(got, fmt.Sprintf("%s %v", sample.Metric, sample.F))
	}
	for _, sample := range q.Samples {
		metric, err := parser.NewParser(parser.Options{}).ParseMetric(sample.Labels)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%s %v", metric, sample.Value))
	}
	compare(t, fmt.Sprintf("%s at %v", q.Expr, q.EvalTime), want, got)
}

func (e *evaluation) compareAlerts(t *testing.T, f firedTest) {
	t.Helper()
	var got, want []string
	for _, rule := range e.alerting() {
		for _, alert := range rule.ActiveAlerts() {
			if rule.Name() == f.AlertName && alert.State == rules.StateFiring {
				got = append(got, alert.Labels.String()+alert.Annotations.String())
			}
		}
	}
	for _, alert := range f.Alerts {
		alert.Labels[labels.AlertName] = f.AlertName
		want = append(want, labels.FromMap(alert.Labels).String()+labels.FromMap(alert.Annotations).String())
	}
	compare(t, fmt.Sprintf("%s at %v", f.AlertName, f.EvalTime), want, got)
}

// compare reports the difference between two lists, ignoring their order.
func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
