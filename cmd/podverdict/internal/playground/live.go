package playground

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
)

// List is what the page shows of a cluster.
type List struct {
	// Scope is what is read, as in "namespace batch".
	Scope string `json:"scope"`
	Jobs  []Job  `json:"jobs"`
	// More counts the Jobs that the list is too long for.
	More int `json:"more,omitempty"`
	// Others counts the Jobs of which there is nothing to say: none of their Pods has failed, and they have no rules.
	Others int `json:"others,omitempty"`
	// Summary counts the verdicts, and says what is not known.
	Summary []string `json:"summary"`
	// Notes are warnings, such as that custom policies may not be read.
	Notes string `json:"notes,omitempty"`
}

// Job is a Job with the verdicts on its Pods.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outlook says what happens to the Job next.
	Outlook string `json:"outlook,omitempty"`
	// Error is why the Job cannot be judged.
	Error string `json:"error,omitempty"`
	Pods  []Pod  `json:"pods"`
	// More counts the Pods that the list is too long for.
	More int `json:"more,omitempty"`
}

// Pod is a Pod with its verdict, in the words of eval.
type Pod struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
	Because string `json:"because"`
}

// Source reads a cluster.
type Source struct {
	List func(ctx context.Context) (List, error)
	// Job returns a stream of YAML, or ErrNoJob.
	Job func(ctx context.Context, namespace, name string) ([]byte, error)
}

// ErrNoJob is returned for a Job that is not there, or not among those that are read.
var ErrNoJob = errors.New("the Job is no longer there")

// Live answers with files of the page, and to those who know the token with what a source reads.
func Live(files fs.FS, source Source, token string) http.Handler {
	live := http.NewServeMux()
	live.HandleFunc("/cluster/jobs", func(w http.ResponseWriter, r *http.Request) {
		list, err := source.List(r.Context())
		answer(w, "application/json", err, func() ([]byte, error) { return json.Marshal(list) })
	})
	live.HandleFunc("/cluster/jobs/{namespace}/{name}", func(w http.ResponseWriter, r *http.Request) {
		text, err := source.Job(r.Context(), r.PathValue("namespace"), r.PathValue("name"))
		answer(w, "application/yaml", err, func() ([]byte, error) { return text, nil })
	})
	mux := http.NewServeMux()
	mux.Handle("/", Page(files))
	mux.Handle("/cluster/", private(token, live))
	return guard(mux)
}

// answer writes what was read, or why nothing was.
func answer(w http.ResponseWriter, kind string, err error, content func() ([]byte, error)) {
	text, failed := content()
	switch err = errors.Join(err, failed); {
	case errors.Is(err, ErrNoJob):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // a browser that has gone needs no answer
}
