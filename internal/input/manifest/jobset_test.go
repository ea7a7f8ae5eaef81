package manifest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJobsOfSets checks that a replicatedJob becomes one Job with its JobSet, including JobSet's defaults. Trainer sets replicas and Pods.
func TestJobsOfSets(t *testing.T) {
	const head = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
	const job = "template: {spec: {parallelism: 3, template: {spec: {containers: [{name: main, image: app}]}}}}"
	const trains = "template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: main}]}}}}"
	runtime := func(mlPolicy string) string {
		return head + "kind: ClusterTrainingRuntime\nmetadata: {name: r}\nspec: {mlPolicy: " + mlPolicy +
			", template: {spec: {replicatedJobs: [{name: launcher, replicas: 2, " + trains + "}, {name: node, " + job + "}]}}}\n"
	}
	trainJob := func(numNodes string) string {
		return "---\n" + head + "kind: TrainJob\nmetadata: {name: t}\nspec: {runtimeRef: {name: r}, trainer: {" + numNodes + "}}\n"
	}
	for _, test := range []struct {
		name, input string
		want        []string // job, set, replicas, parallelism, completions
	}{
		{
			"replicas", "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec: {replicatedJobs: [{name: a, " + job +
				"}, {name: b, replicas: 0, " + job + "}, {name: c, replicas: 5, " + job + "}]}\n",
			[]string{"s-a of a in s: 1 of 3 Pods, <nil>", "s-b of b in s: 0 of 3 Pods, <nil>", "s-c of c in s: 5 of 3 Pods, <nil>"},
		},
		{"a runtime, as a TrainJob without wishes has it", runtime("{numNodes: 7}"), []string{"r-launcher of launcher in r: 1 of 7 Pods, 7", "r-node of node in r: 1 of 3 Pods, 3"}},
		{"the runtime's nodes", runtime("{numNodes: 7}") + trainJob(""), []string{"t-launcher of launcher in t: 1 of 7 Pods, 7", "t-node of node in t: 1 of 3 Pods, 3"}},
		{"the TrainJob's nodes", runtime("{numNodes: 7}") + trainJob("numNodes: 9"), []string{"t-launcher of launcher in t: 1 of 9 Pods, 9", "t-node of node in t: 1 of 3 Pods, 3"}},
		{"MPI", runtime("{mpi: {}}") + trainJob("numNodes: 9"), []string{"t-launcher of launcher in t: 1 of 1 Pods, 1", "t-node of node in t: 1 of 9 Pods, 9"}},
		{"MPI's launcher is a node", runtime("{mpi: {runLauncherAsNode: true}}") + trainJob("numNodes: 9"), []string{"t-launcher of launcher in t: 1 of 1 Pods, 1", "t-node of node in t: 1 of 8 Pods, 8"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "input.yaml")
			if err := os.WriteFile(file, []byte(test.input), 0o600); err != nil {
				t.Fatal(err)
			}
			set, err := Read(context.Background(), Options{Filenames: []string{file}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, job := range set.Jobs {
				spec := job.Object.Spec
				completions := "<nil>"
				if spec.Completions != nil {
					completions = fmt.Sprint(*spec.Completions)
				}
				parallelism := int32(1)
				if spec.Parallelism != nil {
					parallelism = *spec.Parallelism
				}
				got = append(got, fmt.Sprintf("%s of %s in %s: %d of %d Pods, %s", job.Object.Name, job.ReplicatedJob, job.JobSet.Name,
					job.JobSet.Spec.ReplicatedJobs[i].Replicas, parallelism, completions))
				if job.JobSet != set.Jobs[0].JobSet {
					t.Errorf("%s has a JobSet of its own", job.Object.Name)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
