package integration

import (
	"fmt"
	"strings"
)

// An Edit replaces a text of upstream's tests.
type Edit struct{ From, To string }

// Package puts a file of upstream's tests into this package.
var Package = Edit{"package job\n", "package integration\n"}

// Edits have the tests in job_test.go run our controller.
var Edits = []Edit{
	{ // startJobControllerAndWaitForCaches: options delay the events of Jobs
		"options ...informers.SharedInformerOption) (context.Context, context.CancelFunc) {\n\ttb.Helper()\n",
		"options ...informers.SharedInformerOption) (context.Context, context.CancelFunc) {\n\ttb.Helper()\n\tif true {\n\t\treturn Start(tb, restConfig, len(options) > 0)\n\t}\n",
	},
	{ // TestOrphanPodsFinalizersClearedWithGC shares its caches with the garbage collector
		"jc, ctx, cancel := createJobControllerWithSharedInformers(t, restConfig, informerSet)\n\t\t\t",
		"ctx, cancel := Start(t, restConfig, false)\n\t\t\t",
	},
	{"\t\t\tgo jc.Run(ctx, 1)\n", ""},
	{ // testJobRecreationClearsPodExpectations waits until its own caches have the new Job
		"\tjc, ctx, cancel := createJobControllerWithSharedInformers(t, restConfig, informerSet)\n\tt.Cleanup(cancel)\n\tinformerSet.Start(ctx.Done())\n\tgo jc.Run(ctx, 1)\n",
		"\tctx, cancel := Start(t, restConfig, false)\n\tt.Cleanup(cancel)\n\tinformerSet.Batch().V1().Jobs().Informer()\n\tinformerSet.Start(ctx.Done())\n",
	},
	{"\treturn clientSet.BatchV1().Jobs(ns).Create(ctx, jobObj, metav1.CreateOptions{})\n", "\tAdopt(jobObj)\n\treturn clientSet.BatchV1().Jobs(ns).Create(ctx, jobObj, metav1.CreateOptions{})\n"},
	{"value, err := testutil.GetCounterMetricValue(counterVec.WithLabelValues(wantMetric.Labels...))", "value, err := Count(counterVec.Subsystem+\"_\"+counterVec.Name, wantMetric.Labels, wantMetric.Value)"},
	{"\t\"k8s.io/component-base/metrics/testutil\"\n", ""},
	{" test.enableJobManagedBy,", " true,"}, // else the API server drops managedBy
	{"cmp.Diff(wantStatus, gotJob.Status,", "cmp.Diff(wantStatus, WithoutLedger(gotJob.Status),"},
	{`ctrl := "job-controller"`, "ctrl := Reporter"},
	{ // cleanUp relies on a controller that waits for a second before it replaces pods that are deleted: the Job goes first
		"podFinalizersToRemove []string) error {\n",
		"podFinalizersToRemove []string) error {\n\tif err := deleteJob(ctx, clientSet, jobObj); err != nil {\n\t\treturn err\n\t}\n",
	},
	{
		"\treturn clientSet.BatchV1().Jobs(jobObj.Namespace).Delete(ctx, jobObj.Name, metav1.DeleteOptions{\n\t\tPropagationPolicy: ptr.To(metav1.DeletePropagationBackground),\n\t})\n}\n",
		"\treturn nil\n}\n\nfunc deleteJob(ctx context.Context, clientSet clientset.Interface, jobObj *batchv1.Job) error {\n\treturn clientSet.BatchV1().Jobs(jobObj.Namespace).Delete(ctx, jobObj.Name, metav1.DeleteOptions{\n\t\tPropagationPolicy: ptr.To(metav1.DeletePropagationBackground),\n\t})\n}\n",
	},
	{"func resetMetrics() {\n", "func resetMetrics() {\n\tResetCounts()\n"},
}

// Apply makes the edits in a file. Each must find its place: a test that ran upstream's controller would pass for nothing.
func Apply(tests string, edits ...Edit) (string, error) {
	for _, edit := range edits {
		if found := strings.Count(tests, edit.From); found != 1 {
			return "", fmt.Errorf("%d places, want 1, for the edit of\n%s", found, edit.From)
		}
		tests = strings.Replace(tests, edit.From, edit.To, 1)
	}
	return tests, nil
}
