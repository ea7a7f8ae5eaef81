//go:build cluster

package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// server is an API server without controllers. Only one goroutine at a time may use it.
type server struct {
	*testcluster.World

	client  *testcluster.Dynamic
	version *version.Version
}

func newServer(t *testing.T) *server {
	t.Helper()
	return serverOf(t, controlplane.Start(t))
}

// serverOf returns the API server of a cluster, with a namespace for the test.
func serverOf(t *testing.T, cluster *controlplane.Cluster) *server {
	t.Helper()
	return &server{testcluster.NewWorld(t, cluster), testcluster.NewDynamic(t, cluster), version.MustParseGeneric(cluster.Version)}
}

// resource returns the client for objects of this one's kind.
func (s *server) resource(object map[string]any) dynamic.ResourceInterface {
	name := "jobs"
	if object["kind"] == "CronJob" {
		name = "cronjobs"
	}
	return s.client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: name}).Namespace(s.Namespace)
}

// judge returns the API server's findings for a submission.
func (s *server) judge(ctx context.Context, sent vectors.Submission) ([]vectors.Finding, error) {
	jobs := s.resource(sent.Object)
	if sent.OldObject == nil {
		s.client.Warned = nil
		_, err := jobs.Create(ctx, s.local(sent.Object), metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
		return s.findings(err)
	}
	stored, err := s.store(ctx, sent.OldObject)
	if err != nil {
		return nil, err
	}
	s.client.Warned = nil
	updated := &unstructured.Unstructured{Object: sent.Update(stored.Object)}
	updated.SetNamespace(s.Namespace)
	_, err = jobs.Update(ctx, updated, metav1.UpdateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
	found, err := s.findings(err)
	background := metav1.DeletePropagationBackground // otherwise a Job remains until its pods are orphaned
	return found, errors.Join(err, jobs.Delete(ctx, stored.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}))
}

// store creates an object, with its status if it has one.
func (s *server) store(ctx context.Context, object map[string]any) (*unstructured.Unstructured, error) {
	jobs := s.resource(object)
	stored, err := jobs.Create(ctx, s.local(object), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil || object["status"] == nil {
		return stored, err
	}
	stored.Object["status"] = object["status"]
	return jobs.UpdateStatus(ctx, stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
}

// local returns a copy of the object in the test's namespace.
func (s *server) local(object map[string]any) *unstructured.Unstructured {
	local := (&unstructured.Unstructured{Object: object}).DeepCopy()
	local.SetNamespace(s.Namespace)
	return local
}

// findings parses a rejection, if err is one, and the warnings. It returns other errors.
func (s *server) findings(err error) ([]vectors.Finding, error) {
	found := s.warnings()
	if err == nil {
		return found, nil
	}
	var refusal *apierrors.StatusError
	if !errors.As(err, &refusal) || refusal.ErrStatus.Reason != metav1.StatusReasonInvalid || refusal.ErrStatus.Details == nil {
		return nil, err
	}
	for _, c := range refusal.ErrStatus.Details.Causes {
		if foreign(c) {
			continue
		}
		f := vectors.Finding{Field: c.Field, Type: string(c.Type), Message: c.Field + ": " + c.Message}
		if strings.HasSuffix(c.Field, "spec.template") || strings.HasSuffix(c.Field, "spec.template.spec") {
			_, detail, _ := cutLast(c.Message, ": ")
			f.Message = field.Invalid(field.NewPath(c.Field), field.OmitValueType{}, detail).Error()
		}
		found = append(found, f)
	}
	return found, nil
}

// warnings returns the warnings about the spec as a whole.
func (s *server) warnings() []vectors.Finding {
	var found []vectors.Finding
	for _, text := range s.client.Warned {
		for _, root := range []string{"spec", "spec.jobTemplate.spec"} {
			if strings.HasPrefix(text, root+": ") {
				found = append(found, vectors.Finding{Field: root, Type: vectors.TypeWarning, Message: text})
			}
		}
	}
	return found
}

// foreign reports whether a cause applies to any pod: an unsupported restart policy.
func foreign(c metav1.StatusCause) bool {
	return strings.HasSuffix(c.Field, "spec.template.spec.restartPolicy") &&
		c.Type == metav1.CauseTypeFieldValueNotSupported && strings.Contains(c.Message, `"Always"`)
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
