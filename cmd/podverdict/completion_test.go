package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listServer serves lists of objects with the given names by URL path.
func listServer(t *testing.T, lists map[string][]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names, ok := lists[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		items := []any{}
		for _, name := range names {
			items = append(items, map[string]any{"metadata": map[string]any{"name": name}})
		}
		kind, version := "NamespaceList", "v1"
		switch {
		case strings.Contains(r.URL.Path, "cronjobs"):
			kind, version = "CronJobList", "batch/v1"
		case strings.Contains(r.URL.Path, "jobs"):
			kind, version = "JobList", "batch/v1"
		case strings.Contains(r.URL.Path, "pods"):
			kind = "PodList"
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"apiVersion": version, "kind": kind, "items": items}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestCompletionOfNames checks that completion offers names from the cluster and from the kubeconfig.
func TestCompletionOfNames(t *testing.T) {
	server := listServer(t, map[string][]string{
		"/apis/batch/v1/namespaces/batch/jobs":     {"train", "evaluate"},
		"/apis/batch/v1/namespaces/batch/cronjobs": {"nightly"},
		"/api/v1/namespaces/batch/pods":            {"train-0"},
		"/api/v1/namespaces/other/pods":            {"other-0"},
		"/api/v1/namespaces":                       {"batch", "other"},
	})
	kubeconfig := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: c, cluster: {server: "` + server + `"}}],
users: [{name: u, user: {token: x}}], contexts: [{name: here, context: {cluster: c, user: u, namespace: batch}}, {name: away, context: {cluster: c, user: u}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"eval", ""}, "job/ cronjob/ jobset/ pod/ :2"},
		{[]string{"eval", "c"}, "cronjob/ :2"},
		{[]string{"eval", "job/"}, "job/train job/evaluate :0"},
		{[]string{"eval", "jobs/t"}, "jobs/train :0"},
		{[]string{"eval", "job/train", "job/"}, "job/evaluate :0"},
		{[]string{"eval", "jobs", ""}, "train evaluate :0"},
		{[]string{"explain", "pod/"}, "pod/train-0 :0"},
		{[]string{"explain", "-n", "other", "pod/"}, "pod/other-0 :0"},
		{[]string{"eval", "cronjob/"}, "cronjob/nightly :0"},
		{[]string{"eval", "job.y"}, ":0"},
		{[]string{"eval", "-f", "job.yaml", ""}, ":0"},
		{[]string{"eval", "--context", ""}, "away here :4"},
		{[]string{"rescue", "--user", ""}, "u :4"},
		{[]string{"eval", "-n", ""}, "batch other :4"},
		{[]string{"eval", "--server", "http://127.0.0.1:1", "job/"}, ":0"},
		{[]string{"help", "gen"}, "generate :4"},
		{[]string{"generate", "vap", "--rules", "ttl"}, "ttl-out-of-bounds ttl-negative :4"},
		{[]string{"generate", "vap", "--rules", "G-TTL,exit-codes-u"}, "G-TTL,exit-codes-unsorted :4"},
		{[]string{"check", "--skip", "exit-codes-unsorted,exit-codes-u"}, ":4"},
		{[]string{"check", "--only", "g"}, "guardrails :4"},
		{[]string{"check", "--only", "ignore-unused,ignore-u"}, "ignore-unused,ignore-unknown-rule :4"},
	} {
		var stdout, stderr bytes.Buffer
		run(append([]string{"podverdict", "__completeNoDesc"}, test.line...), strings.NewReader(""), &stdout, &stderr)
		if diff := cmp.Diff(test.want, strings.Join(strings.Fields(stdout.String()), " ")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.line, diff)
		}
	}
}
