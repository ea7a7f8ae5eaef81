package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func TestSchemeKnowsTheKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, kind := range []string{
		v1alpha1.KindPodFailurePolicy, v1alpha1.KindPodFailurePolicy + "List",
		v1alpha1.KindPodFailurePolicyBinding, v1alpha1.KindPodFailurePolicyBinding + "List",
	} {
		object, gvk, err := decoder.Decode([]byte(`{"apiVersion":"podverdict.io/v1alpha1","kind":"`+kind+`"}`), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if copied := object.DeepCopyObject(); *gvk != v1alpha1.GroupVersion.WithKind(kind) || copied == object {
			t.Errorf("%s is decoded as %v", kind, gvk)
		}
	}
}
