//go:build cluster

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

const pathOfJobs = "spec.groups[*].template.spec"

// TestConstraintVectorsInCustomResources tests that the API's constraints apply to Jobs embedded in a custom resource,
// where the API server does not check them. The generated policies report for every vector what the API server would
// report for the Job.
func TestConstraintVectorsInCustomResources(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	all, err := vectors.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	s.apply(t, decodeFile[map[string]any](t, workflowFile))
	_, embedding := workflowKind(t)
	catalogue := selection(t, "[A-FH-Z]*")
	for _, p := range s.policies(t, catalogue, admission.Options{Name: "embedded", Target: target(t, embedding, pathOfJobs), Actions: everythingWarns()}) {
		s.apply(t, p.Definition, p.Binding)
	}
	workflows := s.client.Resource(embedding.GroupVersion().WithResource(embedding.Resource)).Namespace(s.Namespace)
	broken := workflow(map[string]any{"parallelism": int64(-1)})
	testcluster.Eventually(t, "warning of workflows", func(ctx context.Context) (bool, error) {
		found, _ := s.create(ctx, workflows, broken)
		return len(found) > 0, nil
	})
	judged := 0
	for _, v := range all {
		spec := embeddable(v)
		if spec == nil {
			continue
		}
		judged++
		got, err := s.create(t.Context(), workflows, workflow(map[string]any{"template": map[string]any{}}, spec))
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		got = ofGroup(got, 1)
		if diff := cmp.Diff(embeddedMessages(v), got); diff != "" {
			t.Errorf("%s: %s\n-want +got:\n%s", v.Name, v.Sentence, diff)
		}
	}
	if judged < 150 {
		t.Errorf("only %d of %d vectors can be embedded", judged, len(all))
	}
}

// embeddable returns the spec of the Job that a vector creates. It returns nil for updates and for vectors about the
// Job's name, and for CronJobs, because their defaults differ from those of Jobs, which embedded Jobs get.
func embeddable(v vectors.JobVector) map[string]any {
	if v.OldObject != nil || v.Object["kind"] != "Job" || slices.ContainsFunc(v.Want, func(f vectors.Finding) bool { return f.ID == "CM3" }) {
		return nil
	}
	spec, _, _ := unstructured.NestedMap(v.Object, "spec")
	return spec
}

func workflow(specs ...map[string]any) map[string]any {
	groups := make([]any, len(specs))
	for i, spec := range specs {
		groups[i] = map[string]any{"name": "group", "template": map[string]any{"spec": spec}}
	}
	return map[string]any{
		"apiVersion": "example.com/v1", "kind": "Workflow", "metadata": map[string]any{"name": "flow"},
		"spec": map[string]any{"groups": groups},
	}
}

func embeddedMessages(v vectors.JobVector) []string {
	var all []string
	for _, f := range v.Want {
		all = append(all, "spec.groups[1].template."+f.Message)
	}
	slices.Sort(all)
	return all
}

// ofGroup returns the messages about one of the Jobs; the other messages are not the vector's.
func ofGroup(messages []string, i int) []string {
	var all []string
	for _, message := range messages {
		if strings.HasPrefix(message, fmt.Sprintf("spec.groups[%d].", i)) {
			all = append(all, message)
		}
	}
	return all
}
