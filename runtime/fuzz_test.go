package runtime_test

import (
	"encoding/json"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/runtime"
)

// FuzzEvaluate accepts any stored policy and any pod, as JSON. The fast path, the
// interpreter, the explanation and the definition must return the same verdict, which must
// survive a JSON round trip.
func FuzzEvaluate(f *testing.F) {
	all, err := vectors.Verdicts()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range all {
		policy, err := json.Marshal(v.Policy)
		if err != nil {
			f.Fatal(err)
		}
		pod, err := json.Marshal(v.Pod)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(policy, pod)
	}
	f.Fuzz(func(t *testing.T, policyJSON, podJSON []byte) {
		var policy *batchv1.PodFailurePolicy
		pod := &corev1.Pod{}
		if json.Unmarshal(policyJSON, &policy) != nil || json.Unmarshal(podJSON, pod) != nil {
			return
		}
		pod = judged(pod)
		want := oracle(t, "", policy, pod)
		for path, p := range programs(t, policy) {
			same(t, path, policy, pod, p.Evaluate(t.Context(), pod), want)
			e, err := p.Explain(t.Context(), runtime.Input{Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			same(t, path+", explained", policy, pod, e.Verdict, want)
		}
		same(t, "read back", policy, pod, unmarshal(t, marshal(t, want)), want)
	})
}
