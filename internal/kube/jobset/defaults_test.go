package jobset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

func TestSetDefaults(t *testing.T) {
	const given = `
spec:
  replicatedJobs:
  - {name: a}
  - {name: b, groupName: g, replicas: 2, template: {spec: {completionMode: NonIndexed, template: {spec: {restartPolicy: Never}}}}}
  failurePolicy: {rules: [{action: FailJobSet}, {name: mine, action: FailJobSet}]}
  volumeClaimPolicies: [{}]
`
	const want = `
spec:
  successPolicy: {operator: All}
  startupPolicy: {startupPolicyOrder: AnyOrder}
  network: {enableDNSHostnames: true, publishNotReadyAddresses: true}
  replicatedJobs:
  - {name: a, groupName: default, template: {spec: {completionMode: Indexed, template: {spec: {restartPolicy: OnFailure}}}}}
  - {name: b, groupName: g, replicas: 2, template: {spec: {completionMode: NonIndexed, template: {spec: {restartPolicy: Never}}}}}
  failurePolicy: {restartStrategy: Recreate, rules: [{name: failurePolicyRule0, action: FailJobSet}, {name: mine, action: FailJobSet}]}
  volumeClaimPolicies: [{retentionPolicy: {whenDeleted: Delete}}]
`
	var got, expected v1alpha2.JobSet
	for text, into := range map[string]*v1alpha2.JobSet{given: &got, want: &expected} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	SetDefaults(&got)
	SetDefaults(&got)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
