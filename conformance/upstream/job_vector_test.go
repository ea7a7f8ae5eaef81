package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// TestConstraintVectors tests that the API server reports the wanted findings for every vector of the constraints, and so
// does the bundle on the stored objects.
func TestConstraintVectors(t *testing.T) {
	bundle, err := NewBundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := vectors.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			s := submission(t, v.Submission)
			faults, panicked, err := release.APIServer(t.Context(), s)
			if err != nil || panicked != v.Panics {
				t.Errorf("panicked: %v, error: %v", panicked, err)
			}
			if diff := v.Difference(said(faults), anonymous); diff != "" {
				t.Errorf("API server\n%s", diff)
			}
			findings, err := bundle.Findings(t.Context(), s)
			if err != nil {
				t.Error(err)
			}
			if diff := v.Difference(found(findings), anonymous); diff != "" {
				t.Errorf("bundle\n%s", diff)
			}
		})
	}
}

// TestGuardrailVectorsAreLegal tests that the API server accepts the Jobs in the vectors of the guardrails, so that such
// Jobs can exist.
func TestGuardrailVectorsAreLegal(t *testing.T) {
	all, err := vectors.Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		faults, _, err := release.APIServer(t.Context(), submission(t, v.Submission))
		if err != nil || len(faults) > 0 {
			t.Errorf("%s: %v, %v", v.Name, faults, err)
		}
	}
}

// submission returns the API server's input: for an update, the stored object and its replacement.
func submission(t *testing.T, s vectors.Submission) release.Submission {
	t.Helper()
	sent := release.Submission{Object: marshal(t, named(s.Object)), CronJob: s.Object["kind"] == "CronJob"}
	if s.OldObject == nil {
		return sent
	}
	old, err := admitted(t.Context(), marshal(t, s.OldObject), sent.CronJob)
	if err != nil {
		t.Fatal(err)
	}
	sent.Old = marshal(t, old)
	sent.Object = marshal(t, s.Update(old))
	return sent
}

// named returns the object with a name, because the API server generates names before it validates.
func named(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	prefix, ok := metadata["generateName"].(string)
	if !ok {
		return object
	}
	metadata, object = maps.Clone(metadata), maps.Clone(object)
	metadata["name"], object["metadata"] = job.Strategy.GenerateName(prefix), metadata
	return object
}

// admitted returns the object as the API server stores it: with the API's defaults, and the selector and the labels that
// a Job gets on creation. The status is the document's.
func admitted(ctx context.Context, document []byte, cronJob bool) (map[string]any, error) {
	var internal, written runtime.Object
	var err error
	if cronJob {
		cron, decodeErr := release.DecodeCronJob(document)
		cron.UID, cron.ResourceVersion, err = "u", "1", decodeErr
		cronjob.Strategy.PrepareForCreate(ctx, cron)
		internal, written = cron, new(batchv1.CronJob)
	} else {
		j, decodeErr := release.Decode(document)
		j.UID, j.ResourceVersion, err = "u", "1", decodeErr
		status := j.Status
		job.Strategy.PrepareForCreate(ctx, j)
		j.Status = status
		internal, written = j, new(batchv1.Job)
	}
	if err != nil {
		return nil, err
	}
	if err := legacyscheme.Scheme.Convert(internal, written, nil); err != nil {
		return nil, err
	}
	text, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	var stored map[string]any
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, err
	}
	stored["apiVersion"], stored["kind"] = "batch/v1", "Job"
	if cronJob {
		stored["kind"] = "CronJob"
	}
	return stored, nil
}

// anonymous removes the parts of a finding that the API server does not report.
func anonymous(f *vectors.Finding) bool {
	f.ID, f.Severity = "", ""
	return true
}

func said(faults []release.Fault) []vectors.Finding {
	all := make([]vectors.Finding, len(faults))
	for i, f := range faults {
		all[i] = vectors.Finding{Field: f.Field, Type: f.Type, Detail: f.Detail, Message: f.Message}
	}
	return all
}

func found(findings []Finding) []vectors.Finding {
	faults := make([]release.Fault, len(findings))
	for i, f := range findings {
		faults[i] = f.Fault
	}
	return said(faults)
}
