package check

import (
	"fmt"
	"slices"
	"testing"
)

// TestRunsAgain finds Jobs that are deleted while their JobSet runs, which depends on when the JobSet succeeds.
func TestRunsAgain(t *testing.T) {
	for name, c := range map[string]struct {
		policy, driver, worker string // successPolicy, and the replicas of two replicatedJobs
		want                   []string
	}{
		"two Jobs":                     {"", "1", "1", []string{"training-driver", "training-worker"}},
		"a Job of which there are two": {"", "0", "2", []string{"training-worker"}},
		"one Job":                      {"", "1", "0", nil},
		"the driver ends all":          {"successPolicy: {operator: All, targetReplicatedJobs: [driver]}", "1", "2", []string{"training-worker"}},
		"any ends all":                 {"successPolicy: {operator: Any}", "1", "2", nil},
		"any worker ends all":          {"successPolicy: {operator: Any, targetReplicatedJobs: [worker]}", "1", "2", []string{"training-driver"}},
	} {
		t.Run(name, func(t *testing.T) {
			const child = "template: {spec: {ttlSecondsAfterFinished: 60, template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}}}"
			set, err := readText(t, fmt.Sprintf(`
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: training}
spec:
  replicatedJobs:
  - {name: driver, replicas: %s, %s}
  - {name: worker, replicas: %s, %s}
  %s
`, c.driver, child, c.worker, child, c.policy))
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, job := range set.Jobs {
				if len(runsAgain(job)) > 0 {
					found = append(found, job.Object.Name)
				}
			}
			if !slices.Equal(found, c.want) {
				t.Errorf("got %v, want %v", found, c.want)
			}
		})
	}
}
